-- Report scheduler and schedule_owner: what runs maintenance.
-- The scheduler is judged by past runs, because a pg_cron job can exist and never start.
create or replace function recall._health_scheduler()
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
    v_patience interval;
    v_since    timestamptz;
    v_last     timestamptz;
    v_by       text;
    v_gone     text;
begin
    select greatest(interval '10 minutes', 3 * min(t.period)),
           max(t.last_run_at) filter (where t.last_run_by <> 'call')
      into v_patience, v_last
      from recall.maintenance_tasks as t
     where t.enabled;
    select min(m.applied_at) into v_since from recall.migrations as m;
    select string_agg(distinct t.last_run_by, ' and ' order by t.last_run_by)
      into v_by
      from recall.maintenance_tasks as t
     where t.enabled
       and t.last_run_by <> 'call'
       and t.last_run_at > v_last - v_patience;

    return query
    select 'scheduler',
           case when coalesce(v_last, v_since) + v_patience < v_now then 'warn' else 'ok' end,
           case when v_last is null then 'nobody has run maintenance yet'
                else format('maintenance was run by %s, the last time %s ago',
                            replace(v_by, 'worker', 'a worker'),
                            date_trunc('second', v_now - v_last)) end,
           case when coalesce(v_last, v_since) + v_patience >= v_now then null
                when v_by like '%pg_cron%'
                then 'Look in cron.job_run_details, where pg_cron lives, why its jobs do not run; '
                     'or start a worker: pgrecall worker'
                else 'Start a worker: pgrecall worker. Or let pg_cron do it: '
                     'select * from recall.schedule_maintenance();' end;

    -- The pg_cron launcher fails on such a job every second, and so all jobs of the cluster fail.
    select s.scheduled_by
      into v_gone
      from recall.settings as s
      join pg_catalog.pg_database as d on d.oid = s.scheduled_in
     where d.datname = current_database()
       and to_regrole(quote_ident(s.scheduled_by)) is null;
    return query
    select 'schedule_owner', case when v_gone is null then 'ok' else 'fail' end,
           case when v_gone is null then 'no role that scheduled maintenance here is gone'
                else format('role %I, which scheduled maintenance here, is gone, and pg_cron '
                            'fails on its jobs', v_gone) end,
           case when v_gone is not null
                then format('A superuser runs: select cron.unschedule(j.jobid) from cron.job as j '
                            'where j.username = %L; select recall.set_scheduler();', v_gone) end;
end;
$function$;

comment on function recall._health_scheduler() is
    'Health of the scheduler: pg_cron, a worker or none; and whether the role of the jobs exists.';
