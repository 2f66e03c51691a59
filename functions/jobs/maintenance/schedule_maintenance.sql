-- Let pg_cron run maintenance and return its jobs; a repeated call updates the schedules.
-- Jobs belong to the caller and run as the caller: a login role with the admin role's rights and
-- USAGE on schema cron. SECURITY DEFINER is impossible, since the owner cannot log in.
-- Dynamic SQL reaches pg_cron, since most installations lack it.
-- Raises  RC003 a schedule that pg_cron does not accept, RC007 pg_cron is not in this database, or
--         another role's jobs do this already.
create or replace function recall.schedule_maintenance()
returns table (
    job_name text,
    schedule text,
    command  text
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_elsewhere text;
    v_other     text;
begin
    if not exists (select from pg_catalog.pg_extension as e where e.extname = 'pg_cron') then
        select s.setting
          into v_elsewhere
          from pg_catalog.pg_settings as s
         where s.name = 'cron.database_name';
        raise exception using
            errcode = 'RC007',
            message = coalesce('pg_cron lives in database ' || v_elsewhere || ', not here',
                               'pg_cron is not installed in this database'),
            detail  = case when v_elsewhere is null
                           then 'cron.database_name is not set, or this role may not read it.'
                           else (
                               select string_agg(c.statement, E'\n')
                                 from recall.maintenance_commands() as c) end,
            hint    = 'Where pg_cron lives in another database of the cluster, run there the '
                      'statements of: select statement from recall.maintenance_commands(). '
                      'Without pg_cron a worker runs maintenance: pgrecall worker.';
    end if;
    if not (select r.rolcanlogin from pg_catalog.pg_roles as r where r.rolname = current_user)
       or not pg_catalog.has_schema_privilege('cron', 'usage') then
        raise exception using
            errcode = 'RC007',
            message = format('role %I may not log in, or has no USAGE on schema cron',
                             current_user),
            hint    = format('Jobs run as the role that schedules them. Call it as a '
                             'login role, after: grant usage on schema cron to %I;', current_user);
    end if;

    -- Row-level security shows a role its own jobs only. A role that sees all jobs can replace
    -- the recorded role, which is stale when jobs were removed by other means.
    begin
        perform recall.set_scheduler(current_user);
    exception when sqlstate 'RC007' then
        if pg_catalog.row_security_active('cron.job') then
            raise;
        end if;
        perform recall.set_scheduler();
        perform recall.set_scheduler(current_user);
    end;
    execute $sql$
        select j.username from cron.job as j
         where j.jobname in (select c.job_name from recall.maintenance_commands() as c)
           and j.username <> current_user
         limit 1
    $sql$ into v_other;
    if v_other is not null then
        raise exception using
            errcode = 'RC007',
            message = format('jobs of %I run maintenance in this database', v_other),
            hint    = case when to_regrole(quote_ident(v_other)) is null
                           then format('The role is gone. First: select cron.unschedule(j.jobid) '
                                       'from cron.job as j where j.username = %L;', v_other)
                           else format('First, as %I: select recall.unschedule_maintenance();',
                                       v_other) end;
    end if;

    -- Remove the jobs of disabled tasks. Jobs that were paused are removed, too, and scheduled
    -- again below, since few roles may alter a job.
    execute $sql$
        select count(cron.unschedule(j.jobid))
          from recall.maintenance_commands() as c
          join cron.job as j on j.jobname = c.job_name
         where not (c.enabled and j.active)
    $sql$;

    for job_name, schedule, command in
        select c.job_name, c.schedule, c.command
          from recall.maintenance_commands() as c
         where c.enabled
    loop
        begin
            execute 'select cron.schedule($1, $2, $3)' using job_name, schedule, command;
        exception when invalid_parameter_value then
            raise exception using
                errcode = 'RC003',
                message = format('pg_cron rejects the schedule %L of %s', schedule, job_name),
                detail  = sqlerrm,
                hint    = 'Use five fields: minute, hour, day of month, month, day of week.';
        end;
        return next;
    end loop;
end;
$function$;

comment on function recall.schedule_maintenance() is
    'Let pg_cron run the enabled maintenance tasks as the calling role, and return its jobs. A '
    'repeated call updates schedules and removes the jobs of disabled tasks.';
