-- Lock a job for its return, unless somebody holds it, its session or its user; NULLs then.
-- The return may wait for an equal job that is ready. Erasures, appends and sweeps that hold or
-- insert that one hold the user or the session, so a caller that has both waits for none of them.
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
set search_path from current
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

    -- a session that nobody has opened is but a name
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
    'A job that is to be returned, locked with its user and session; NULLs when one is held.';
