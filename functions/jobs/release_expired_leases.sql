-- recall.release_expired_leases(limit, as_of) -> (done, more)
-- A dead worker's job is back within one lease: due again after the backoff, or dead.
-- Locks   jobs, as far as they are free, until settings.maintenance_lock_time has passed.
create or replace function recall.release_expired_leases(
    p_limit integer     default 1000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
set enable_seqscan = off
set jit = off
as $function$
declare
    v_start timestamptz := clock_timestamp();
    v_now   timestamptz := coalesce(p_as_of, v_start);
    v_until timestamptz;
    v_job   recall.jobs;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select v_start + s.maintenance_lock_time into v_until from recall.settings as s;
    done := 0;
    more := false;

    for v_job in
        select j.*
          from recall.jobs as j
         where j.state = 'running'
           and j.lease_until < v_now
         order by j.lease_until
         limit p_limit
           for update skip locked
    loop
        perform recall._return_job(v_job, v_now + recall._backoff(v_job.attempts),
                                   format('the lease of worker %s expired', v_job.worker));
        done := done + 1;
        more := clock_timestamp() >= v_until or done = p_limit;
        exit when more;
    end loop;
    return next;
end;
$function$;

comment on function recall.release_expired_leases(integer, timestamptz) is
    'Take back the jobs of workers that died, one batch a call.';
