-- Run a batch of each maintenance task that is due; return one row per task.
-- The task that has waited longest comes first; a task that runs elsewhere is skipped. Changed rows
-- stay locked until the transaction ends. So a call ends with the batch that passes
-- settings.maintenance_lock_time; call again while rows come.
-- Locks   the rows of the tasks, as far as they are free.
create or replace function recall.run_due_maintenance()
returns table (
    task   text,
    result jsonb
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now   timestamptz := clock_timestamp();
    v_until timestamptz;
    v_task  recall.maintenance_tasks;
    v_seen  text[]      := '{}'::text[];
begin
    select v_now + s.maintenance_lock_time into v_until from recall.settings as s;

    loop
        select t.*
          into v_task
          from recall.maintenance_tasks as t
         -- Due: never ran, period over, run in the future (the clock was set back), or work left.
         -- A task whose due rows were all locked waits a second.
         where t.enabled
           and t.task <> all (v_seen)
           and (t.last_run_at is null
                or t.last_run_at + t.period <= v_now
                or t.last_run_at - t.period > v_now
                or t.last_result @> '{"more": true}'
                   and t.last_run_at < v_now
                       - case when t.last_result ? 'waits' then interval '1 second'
                              else interval '0' end)
         order by t.last_run_at nulls first, t.task
         limit 1
           for update skip locked;
        exit when not found;

        task   := v_task.task;
        result := recall._run_task(v_task, v_now, 'worker');
        v_seen := v_seen || task;
        return next;
        -- After a statement_timeout PostgreSQL runs no second timer within the same statement.
        exit when clock_timestamp() >= v_until or result ->> 'sqlstate' = '57014';
    end loop;
end;
$function$;

comment on function recall.run_due_maintenance() is
    'Run a batch of each due maintenance task within a short transaction, for workers without '
    'pg_cron. Call again while rows come.';
