-- Extend the lease of a job; return false when the caller no longer holds it.
-- Raises  RC003.
create or replace function recall.extend_lease(
    p_user_id     uuid,
    p_job_id      uuid,
    p_lease_token uuid,
    p_lease       interval
)
returns boolean
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform recall._check_user(p_user_id);
    perform recall._check_lease(p_lease);

    update recall.jobs as j
       set lease_until = v_now + p_lease,
           lease       = p_lease
     where j.user_id     = p_user_id
       and j.job_id      = p_job_id
       and j.lease_token = p_lease_token
       and j.lease_until > v_now;
    return found;
end;
$function$;

comment on function recall.extend_lease(uuid, uuid, uuid, interval) is
    'Heartbeat: extend the lease of a job to p_lease from now. False when the lease has expired '
    'or belongs to another worker.';
