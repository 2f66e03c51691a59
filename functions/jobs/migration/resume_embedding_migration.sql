-- Resume a paused change of the embedding model.
-- Texts that have a new vector are not embedded again. A repeated call changes nothing.
-- Locks   the row of the change.
-- Raises  RC007 no change is paused.
create or replace function recall.resume_embedding_migration()
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_migration recall.embedding_migrations := recall._lock_migration('{running,paused}');
begin
    update recall.embedding_migrations as m
       set state = 'running'
     where m.migration_id = v_migration.migration_id;
end;
$function$;

comment on function recall.resume_embedding_migration() is
    'Resume a paused change of the embedding model. RC007: no change is paused.';
