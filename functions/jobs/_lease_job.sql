-- recall._lease_job(job, worker, until) -> the lease token, or NULL
-- NULL when a job of the same session and kind is running, or is being claimed at this moment: the
-- try-lock keeps claims from waiting for each other at the unique index, which would deadlock when
-- they come in different orders.
create or replace function recall._lease_job(
    p_job    recall.jobs,
    p_worker text,
    p_until  timestamptz
)
returns uuid
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_token uuid := gen_random_uuid();
begin
    if p_job.session_id is not null then
        if not pg_try_advisory_xact_lock(hashtextextended(
                   concat_ws(' ', 'pgrecall.claim', p_job.user_id, p_job.kind, p_job.session_id),
                   0)) then
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
           lease_until = p_until,
           attempts    = j.attempts + 1
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    return v_token;
end;
$function$;

comment on function recall._lease_job(recall.jobs, text, timestamptz) is
    'Make a ready job running; NULL when its session has a running one of that kind.';
