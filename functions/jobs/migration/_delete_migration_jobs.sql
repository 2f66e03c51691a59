-- Delete the ready and dead jobs of a change of the embedding model.
create or replace function recall._delete_migration_jobs(
    p_model text
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    delete from recall.jobs as j
     where (j.user_id, j.job_id) in (
               select d.user_id, d.job_id
                 from recall.jobs as d
                where d.kind  = 'embed'
                  and d.state <> 'running'
                  and d.payload ->> 'mode' = p_model
                  for update skip locked);
end;
$function$;

comment on function recall._delete_migration_jobs(text) is
    'Delete the ready and dead jobs of a change of the embedding model.';
