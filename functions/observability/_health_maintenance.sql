-- Report partitions and maintenance.
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
set search_path to pg_catalog, recall, pg_temp
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

    -- Lock conflicts and cancellations only warn until the third failure in a row, because the task
    -- is retried soon. Other errors fail at once.
    return query
    select 'maintenance',
           case when bool_or(u.is_broken or u.is_long_late) then 'fail'
                when bool_or(u.is_failing or u.is_late) then 'warn'
                else 'ok' end,
           coalesce(string_agg(
               format('%s: %s', u.task,
                      case when u.is_failing
                           then concat_ws(', ', u.error, case when u.failures > 1 then
                                          format('%s times in a row', u.failures) end)
                           else format('late, last run %s', coalesce(
                                to_char(u.last_run_at at time zone 'UTC',
                                        'YYYY-MM-DD HH24:MI" UTC"'), 'never')) end),
               '; ' order by u.task)
               filter (where u.is_failing or u.is_late),
               format('%s tasks run in time', count(*))),
           case when bool_or(u.is_failing)
                then 'Mend what it says, then try: select recall.run_maintenance(''…''); all of an '
                     'error is told by the task itself: select * from recall.…();'
                when bool_or(u.is_late)
                then 'Start a worker: pgrecall worker. Or let pg_cron do it: '
                     'select * from recall.schedule_maintenance();' end
      from (
            select t.task, t.last_run_at, t.failures, t.last_result ->> 'error' as error,
                   t.last_result ? 'error' as is_failing,
                   t.last_result ? 'error' and (
                       t.failures > 2
                       or coalesce(t.last_result ->> 'sqlstate', '')
                              <> all ('{55P03,40001,40P01,57014}'::text[])) as is_broken,
                   s.due_at + 3 * t.period < v_now or s.due_at - 3 * t.period > v_now as is_late,
                   s.due_at + 10 * t.period < v_now - interval '1 hour' as is_long_late
              from recall.maintenance_tasks as t
             cross join lateral (
                    select coalesce(t.last_run_at, min(m.applied_at)) as due_at
                      from recall.migrations as m
                   ) as s
             where t.enabled
           ) as u;
end;
$function$;

comment on function recall._health_maintenance() is
    'Health of maintenance: months ahead, tasks that failed or are late.';
