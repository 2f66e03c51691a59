-- Pause a change of the embedding model: no further job is enqueued, and ready ones are deleted.
-- Jobs in progress finish. Vectors stay. A repeated call changes nothing.
-- Locks   the row of the change, the jobs.
-- Raises  RC007 no change is running.
create or replace function recall.pause_embedding_migration()
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
       set state     = 'paused',
           passes    = 0,
           last_user = null
     where m.migration_id = v_migration.migration_id;
    perform recall._delete_migration_jobs(v_migration.to_model);
end;
$function$;

comment on function recall.pause_embedding_migration() is
    'Pause the change of the embedding model; jobs in progress finish, and vectors stay. RC007: '
    'no change is running.';
