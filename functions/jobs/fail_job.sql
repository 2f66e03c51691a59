-- recall.fail_job(user, job, token, error, retry) -> was it the caller's?
-- Locks   the user, the job.
create or replace function recall.fail_job(
    p_user_id     uuid,
    p_job_id      uuid,
    p_lease_token uuid,
    p_error       text,
    p_retry       boolean default true
)
returns boolean
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_job recall.jobs;
begin
    perform recall._check_user(p_user_id);
    v_job := recall._read_leased_job(p_user_id, p_job_id, p_lease_token);
    if v_job.job_id is null then
        return false;
    end if;

    perform recall._return_job(v_job, clock_timestamp() + recall._backoff(v_job.attempts),
                               left(coalesce(p_error, 'no reason given'), 10000),
                               coalesce(p_retry, true));
    return true;
end;
$function$;

comment on function recall.fail_job(uuid, uuid, uuid, text, boolean) is
    'Give a leased job back with its error: backoff doubles from 10 s to 1 h, then it is dead.';
