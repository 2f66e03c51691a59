-- Change the schedule, period, batch size or budget of a maintenance task, or enable or disable it.
-- pg_cron gets a changed schedule at the next schedule_maintenance.
-- Raises  RC003 unknown task or key, or a value out of range.
create or replace function recall.configure_maintenance(
    p_task    text,
    p_changes jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_task recall.maintenance_tasks;
    v_name text;
begin
    perform recall._check_json(p_changes, 'p_changes');
    perform recall._check_keys(
        p_changes, array['schedule', 'period', 'batch_size', 'budget', 'enabled'], 'p_changes');
    v_task := recall._read_task(p_task);
    v_task := jsonb_populate_record(v_task, p_changes);

    update recall.maintenance_tasks as t
       set schedule   = v_task.schedule,
           period     = v_task.period,
           batch_size = v_task.batch_size,
           budget     = v_task.budget,
           enabled    = v_task.enabled
     where t.task = v_task.task;
exception
    when check_violation or not_null_violation or data_exception then
        get stacked diagnostics v_name = constraint_name;
        raise exception using
            errcode = 'RC003',
            message = concat_ws(': ', 'a value is out of range', nullif(v_name, ''),
                                left(sqlerrm, 200)),
            hint    = 'schedule: a cron expression; period and budget: intervals above 0, at most '
                      '1000 years and a day; batch_size: above 0; enabled: true or false.';
end;
$function$;

comment on function recall.configure_maintenance(text, jsonb) is
    'Change schedule, period, batch_size, budget or enabled of a maintenance task. pg_cron gets '
    'a changed schedule at the next schedule_maintenance.';
