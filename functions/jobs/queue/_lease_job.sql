-- Make a ready job running; return its lease token, or NULL when its session and kind are busy.
-- They are busy when a job of both is running or being claimed. Two such claims would wait for each
-- other at the unique index. So each first tries to lock the same ready job, the lowest job_id.
-- Locks   a ready job of the same session and kind. No advisory lock: any login could take its key.
create or replace function recall._lease_job(
    p_job    recall.jobs,
    p_worker text,
    p_now    timestamptz,
    p_lease  interval
)
returns uuid
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_token uuid := gen_random_uuid();
begin
    if p_job.session_id is not null then
        perform
           from recall.jobs as f
          where f.user_id = p_job.user_id
            and f.state   = 'ready'
            and f.job_id  = (
                   select r.job_id
                     from recall.jobs as r
                    where r.user_id    = p_job.user_id
                      and r.kind       = p_job.kind
                      and r.session_id = p_job.session_id
                      and r.state      = 'ready'
                    order by r.job_id
                    limit 1)
            for update skip locked;
        if not found then
            return null;
        end if;
        perform
           from recall.jobs as r
          where r.user_id    = p_job.user_id
            and r.kind       = p_job.kind
            and r.session_id = p_job.session_id
            and r.state      = 'running';
        if found then
            return null;
        end if;
    end if;

    update recall.jobs as j
       set state       = 'running',
           worker      = p_worker,
           lease_token = v_token,
           lease_until = p_now + p_lease,
           lease       = p_lease,
           attempts    = j.attempts + 1
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    return v_token;
exception when unique_violation then
    -- Another job of the session and kind was enqueued and claimed since the check above.
    return null;
end;
$function$;

comment on function recall._lease_job(recall.jobs, text, timestamptz, interval) is
    'Make a ready job running and return its lease token; NULL when a job of its session and kind '
    'is running or being claimed.';
