-- recall._read_leased_job(user, job, token) -> the job, or a row of NULLs
-- Holds the user, then the job: a finishing job and the forgetting of its user wait for each other.
-- A lease that has lapsed is nobody's, even before it is taken back.
-- Locks   the user, the job.
create or replace function recall._read_leased_job(
    p_user_id     uuid,
    p_job_id      uuid,
    p_lease_token uuid
)
returns recall.jobs
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_now timestamptz := clock_timestamp();
    v_job recall.jobs;
begin
    perform recall._hold_user(p_user_id);

    select j.*
      into v_job
      from recall.jobs as j
     where j.user_id     = p_user_id
       and j.job_id      = p_job_id
       and j.lease_token = p_lease_token
       and j.lease_until > v_now
       for update;
    return v_job;
end;
$function$;

comment on function recall._read_leased_job(uuid, uuid, uuid) is
    'A running job whose lease is the caller''s, locked; NULLs when it is not.';
