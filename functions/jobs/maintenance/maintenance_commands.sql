-- List the pg_cron jobs that schedule_maintenance writes.
-- pg_cron lives in one database of a cluster. If that is another one, the future owner of the jobs
-- runs `statement` there:
--     psql -d app -Atc 'select statement from recall.maintenance_commands()' | psql -d postgres
create or replace function recall.maintenance_commands()
returns table (
    job_name  text,
    schedule  text,
    command   text,
    enabled   boolean,
    statement text
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_database text := current_database();
    -- Job names end in the database's name (a hash of a long one), so that several databases do not
    -- replace each other's jobs.
    v_suffix   text := recall._cron_suffix();
    v_prune    text := 'recall_prune_run_details' || v_suffix;
    v_keep     interval;
begin
    select s.run_details_retention into v_keep from recall.settings as s;

    return query
    select c.job_name, c.schedule, c.command, c.enabled,
           case when not c.enabled
                then format('select cron.unschedule(j.jobid) from cron.job as j '
                            'where j.jobname = %L and j.username = current_user;', c.job_name)
                when c.job_name = v_prune
                then format('select cron.schedule(%L, %L, %L);', c.job_name, c.schedule, c.command)
                else format('select cron.schedule_in_database(%L, %L, %L, %L);', c.job_name,
                            c.schedule, c.command, v_database) end
      from (
            -- pg_cron 1.4 has no seconds in a schedule. The tasks of every minute delay themselves,
            -- so that none starts in the same second as an hourly task.
            select format('recall_%s%s', t.task, v_suffix) as job_name, t.schedule,
                   format(case when t.schedule = '* * * * *'
                               then 'call recall.maintain(%L, %L)'
                               else 'call recall.maintain(%L)' end, t.task, d.delay) as command,
                   t.enabled, 1 as place
              from recall.maintenance_tasks as t
             cross join lateral (
                    select format('%s seconds', (15 + 20 * count(*)) % 60)
                      from recall.maintenance_tasks as e
                     where e.schedule = '* * * * *'
                       and e.task < t.task
                   ) as d (delay)
             union all
            -- Delete pg_cron's run details of this database's maintenance, and no others.
            select v_prune, '47 3 * * *',
                   format('delete from cron.job_run_details as d '
                          'where coalesce(d.end_time, d.start_time) < now() - interval %L '
                          'and (d.database = %L and starts_with(d.command, %L) '
                          'or d.jobid in (select j.jobid from cron.job as j where j.jobname = %L))',
                          v_keep, v_database, 'call recall.maintain(', v_prune), true, 2
           ) as c
     order by c.place, c.job_name;
end;
$function$;

comment on function recall.maintenance_commands() is
    'List the pg_cron jobs of maintenance, each with the statement that writes it where pg_cron '
    'lives in another database.';
