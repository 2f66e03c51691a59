-- Remove the caller's pg_cron jobs of this database and return how many there were.
-- Names of jobs end in the database's suffix, so jobs of tasks that no longer exist are found, too.
-- A repeated call removes nothing.
-- Raises  RC007 pg_cron is not in this database.
create or replace function recall.unschedule_maintenance()
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_suffix text := (
        select substring(c.job_name from '@.*') from recall.maintenance_commands() as c limit 1);
    v_count  integer;
begin
    if not exists (select from pg_catalog.pg_extension as e where e.extname = 'pg_cron') then
        raise exception using
            errcode = 'RC007',
            message = 'pg_cron is not installed in this database',
            hint    = format('Where it lives in another one, run there: select '
                             'cron.unschedule(j.jobid) from cron.job as j where starts_with('
                             'j.jobname, ''recall_'') and right(j.jobname, %s) = %L;',
                             length(v_suffix), v_suffix);
    end if;

    execute $sql$
        select count(cron.unschedule(j.jobid)) from cron.job as j
         where starts_with(j.jobname, 'recall_')
           and right(j.jobname, length($1)) = $1
           and j.username = current_user
    $sql$ into v_count using v_suffix;
    if recall.get_settings() ->> 'scheduled_by' = current_user then
        perform recall.set_scheduler();
    end if;
    return v_count;
end;
$function$;

comment on function recall.unschedule_maintenance() is
    'Remove the caller''s pg_cron jobs that run maintenance here. Returns how many there were.';
