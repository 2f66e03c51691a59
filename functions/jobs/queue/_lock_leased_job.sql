-- Lock the job of a lease, after its user; return a row of NULLs when the lease is not valid.
-- A finishing job and the erasure of its user exclude each other. An expired lease is invalid even
-- before release_expired_leases runs.
-- Locks   the user, the job.
create or replace function recall._lock_leased_job(
    p_user_id     uuid,
    p_job_id      uuid,
    p_lease_token uuid
)
returns recall.jobs
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now timestamptz := clock_timestamp();
    v_job recall.jobs;
begin
    perform recall._lock_user_for_update(p_user_id);

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

comment on function recall._lock_leased_job(uuid, uuid, uuid) is
    'Lock the job of a lease, after its user; a row of NULLs when the lease is not valid.';
