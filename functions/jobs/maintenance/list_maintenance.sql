-- List the maintenance tasks: when each runs, and the outcome of its last run.
create or replace function recall.list_maintenance()
returns table (
    task        text,
    schedule    text,
    period      interval,
    batch_size  integer,
    budget      interval,
    enabled     boolean,
    last_run_at timestamptz,
    last_run_by text,
    last_result jsonb,
    failures    integer
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select t.task, t.schedule, t.period, t.batch_size, t.budget, t.enabled, t.last_run_at,
           t.last_run_by, t.last_result, t.failures
      from recall.maintenance_tasks as t
     order by t.task;
end;
$function$;

comment on function recall.list_maintenance() is
    'Maintenance tasks: when each runs, whether it is enabled, when it ran last, by whom, and '
    'the outcome.';
