-- recall._health_maintenance() -> partitions, maintenance
create or replace function recall._health_maintenance()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_now      timestamptz := clock_timestamp();
    v_settings recall.settings;
begin
    select s.* into v_settings from recall.settings as s;

    return query
    select 'partitions',
           case when m.o_this > 0 then 'fail' when m.o_next > 0 then 'warn' else 'ok' end,
           case when m.o_this + m.o_next = 0
                then format('months exist until %s', v_settings.history_until)
                else format('%s parents lack this month, %s the next one', m.o_this, m.o_next) end,
           case when m.o_this + m.o_next > 0
                then 'select * from recall.ensure_partitions();' end
      from recall._missing_months(v_now) as m;

    return query
    select 'maintenance',
           case when bool_or(t.last_result ? 'error') then 'fail'
                when bool_or(coalesce(t.last_run_at, u.created_at) + 3 * t.period < v_now)
                    then 'warn'
                else 'ok' end,
           coalesce(string_agg(
               format('%s: %s', t.task, coalesce(t.last_result ->> 'error', 'late')), '; '
               order by t.task)
               filter (where t.last_result ? 'error'
                          or coalesce(t.last_run_at, u.created_at) + 3 * t.period < v_now),
               format('%s tasks run in time', count(*))),
           case when bool_or(coalesce(t.last_run_at, u.created_at) + 3 * t.period < v_now)
                then 'Start a worker: pgrecall worker' end
      from recall.maintenance_tasks as t
     cross join (
            select min(m.applied_at) from recall.migrations as m
           ) as u (created_at)
     where t.enabled;
end;
$function$;

comment on function recall._health_maintenance() is
    'Health of the background: months ahead, tasks that failed or are late.';
