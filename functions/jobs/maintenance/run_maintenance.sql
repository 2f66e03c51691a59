-- Run one maintenance task in a short call; return done, more and ms, or skipped.
-- Changed rows stay locked until the transaction ends, and a function cannot commit. So a call ends
-- with the batch that passes settings.maintenance_lock_time or the task's budget. Call again while
-- it says `more`, after a pause when it says `waits`: then other transactions lock the due rows.
-- Locks   the task's row, if it is free: no login without rights here can hold it.
-- Raises  RC003 unknown task.
create or replace function recall.run_maintenance(
    p_task text
)
returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now       timestamptz := clock_timestamp();
    v_task      recall.maintenance_tasks;
    v_lock_time interval;
begin
    v_task := recall._read_task(p_task);
    select s.maintenance_lock_time into v_lock_time from recall.settings as s;
    select t.*
      into v_task
      from recall.maintenance_tasks as t
     where t.task = v_task.task
       for update skip locked;
    if not found then
        return jsonb_build_object('skipped', 'it runs elsewhere');
    end if;

    return recall._run_task(
        v_task, v_now + least(v_lock_time, v_task.budget),
        coalesce(nullif(current_setting('recall.maintenance_by', true), ''), 'call'));
end;
$function$;

comment on function recall.run_maintenance(text) is
    'Run one maintenance task in a short call. The result has done (rows), more (call again; '
    'after a pause when it says waits) and ms, error when it failed, or skipped while it runs '
    'elsewhere.';
