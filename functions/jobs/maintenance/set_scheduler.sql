-- Record the role whose pg_cron jobs run maintenance in this database; NULL for no role.
-- Row-level security on cron.job hides them from other roles, so schedule_maintenance asks here.
-- A copy of the database has no jobs, so there the record does not count.
-- Raises  RC003 unknown role, RC007 another role is recorded.
create or replace function recall.set_scheduler(
    p_role text default null
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_database oid;
    v_other    text;
begin
    if p_role is not null and to_regrole(quote_ident(p_role)) is null then
        raise exception using
            errcode = 'RC003',
            message = format('there is no role %L', left(p_role, 80)),
            hint    = 'Name a login role, or NULL for none.';
    end if;
    select d.oid
      into v_database
      from pg_catalog.pg_database as d
     where d.datname = current_database();

    -- The row lock makes the second of two roles wait, and then fail.
    update recall.settings as s
       set scheduled_by = p_role,
           scheduled_in = case when p_role is not null then v_database end
     where p_role is null
        or s.scheduled_by is null
        or s.scheduled_by = p_role
        or s.scheduled_in <> v_database;

    if not found then
        select s.scheduled_by into v_other from recall.settings as s;
        raise exception using
            errcode = 'RC007',
            message = format('jobs of %I run maintenance in this database', v_other),
            hint    = case when to_regrole(quote_ident(v_other)) is null
                           then format('The role is gone. A superuser runs: select '
                                       'cron.unschedule(j.jobid) from cron.job as j where '
                                       'j.username = %L; select recall.set_scheduler();', v_other)
                           else format('First, as %I: select recall.unschedule_maintenance(); '
                                       'where its jobs were removed otherwise: '
                                       'select recall.set_scheduler();', v_other) end;
    end if;
end;
$function$;

comment on function recall.set_scheduler(text) is
    'Record the role whose pg_cron jobs run maintenance here, as schedule_maintenance does; '
    'NULL: no role.';
