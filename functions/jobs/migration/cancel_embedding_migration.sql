-- Cancel a change of the embedding model before its switch; maintenance deletes the new vectors.
-- Searches notice nothing. A repeated call changes nothing.
-- Locks   the row of the change, the jobs.
-- Raises  RC007 no change is running, or the model is switched.
create or replace function recall.cancel_embedding_migration()
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_migration recall.embedding_migrations :=
        recall._lock_migration('{running,paused,cancelling}');
begin
    update recall.embedding_migrations as m
       set state     = 'cancelling',
           last_user = case when m.state = 'cancelling' then m.last_user end
     where m.migration_id = v_migration.migration_id;
    perform recall._delete_migration_jobs(v_migration.to_model);
end;
$function$;

comment on function recall.cancel_embedding_migration() is
    'Cancel the change of the embedding model before its switch; maintenance deletes the new '
    'vectors. RC007: no change is running, or the model is switched already.';
