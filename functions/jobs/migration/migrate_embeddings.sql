-- Go on with a change of the embedding model: enqueue jobs, switch, or delete vectors, in a batch.
-- done counts users. A change that another transaction has locked waits for the next call.
-- Locks   the row of the change, users as far as they are free.
create or replace function recall.migrate_embeddings(
    p_limit integer     default 1000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_start     constant timestamptz := clock_timestamp();
    v_now       constant timestamptz := coalesce(p_as_of, v_start);
    v_until     timestamptz;
    v_migration recall.embedding_migrations;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select v_start + s.maintenance_lock_time into v_until from recall.settings as s;
    done := 0;
    more := false;
    select m.* into v_migration from recall.embedding_migrations as m where m.ended_at is null
       for update skip locked;
    if v_migration.state = 'running' then
        select a.o_done, a.o_more
          into done, more
          from recall._advance_migration(v_migration, p_limit, v_until, v_now) as a;
    elsif v_migration.state = 'cancelling'
          or v_migration.state = 'switched'
             and v_migration.switched_at + v_migration.keep_old <= v_now then
        select p.o_done, p.o_more
          into done, more
          from recall._purge_migration(v_migration, p_limit, v_until) as p;
    end if;
    return next;
end;
$function$;

comment on function recall.migrate_embeddings(integer, timestamptz) is
    'Go on with a change of the embedding model, one batch of users a call: enqueue jobs, switch '
    'when no text is left, delete vectors. done counts users; more is true while some remain.';
