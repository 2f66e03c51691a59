-- Return the change of the embedding model that has not ended; NULLs when there is none.
create or replace function recall._live_migration()
returns recall.embedding_migrations
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_migration recall.embedding_migrations;
begin
    select m.* into v_migration from recall.embedding_migrations as m where m.ended_at is null;
    return v_migration;
end;
$function$;

comment on function recall._live_migration() is
    'The change of the embedding model that has not ended.';
