-- Lock a job for its return, or return NULLs when it, its session or its user is locked.
-- Returning a job may wait for an equal ready job. Erasures, appends and sweeps lock the user or
-- the session before that one, so a caller with both locks waits for none of them.
-- Locks   the user, the session, the job, each only if it is free.
create or replace function recall._try_lock_job(
    p_user_id    uuid,
    p_job_id     uuid,
    p_session_id uuid,
    p_state      recall.job_state
)
returns recall.jobs
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_job recall.jobs;
begin
    perform from recall.users as u
      where u.user_id = p_user_id
        for no key update skip locked;
    if not found then
        return null;
    end if;

    -- A job may name a session that was never opened: there is no row to lock.
    perform from recall.sessions as s
      where s.user_id    = p_user_id
        and s.session_id = p_session_id
        for no key update skip locked;
    if not found and p_session_id is not null
       and recall._has_session(p_user_id, p_session_id) then
        return null;
    end if;

    select j.*
      into v_job
      from recall.jobs as j
     where j.user_id = p_user_id
       and j.job_id  = p_job_id
       and j.state   = p_state
       for update skip locked;
    return v_job;
end;
$function$;

comment on function recall._try_lock_job(uuid, uuid, uuid, recall.job_state) is
    'A job to be returned, locked with its user and session; NULLs when one of them is locked.';
