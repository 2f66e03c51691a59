-- recall.run_due_maintenance() -> one row a task that was due
-- For workers where there is no pg_cron: each enabled task whose period has passed, once.
create or replace function recall.run_due_maintenance()
returns table (
    task   text,
    result jsonb
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
as $function$
declare
    v_now timestamptz := clock_timestamp();
begin
    for task in
        select t.task
          from recall.maintenance_tasks as t
         where t.enabled
           and (t.last_run_at is null or t.last_run_at + t.period <= v_now)
         order by t.last_run_at nulls first, t.task
    loop
        result := recall.run_maintenance(task);
        return next;
    end loop;
end;
$function$;

comment on function recall.run_due_maintenance() is
    'Run every maintenance task whose period has passed; for workers where there is no pg_cron.';
