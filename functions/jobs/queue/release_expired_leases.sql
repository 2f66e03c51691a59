-- Return jobs whose lease has expired to the queue: due again after the backoff, or dead.
-- Locks   users, sessions and jobs as far as they are free, until settings.maintenance_lock_time
--         has passed. See docs/architecture.md.
create or replace function recall.release_expired_leases(
    p_limit integer     default 1000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set jit = off
as $function$
declare
    v_start      timestamptz := clock_timestamp();
    v_now        timestamptz := coalesce(p_as_of, v_start);
    v_until      timestamptz;
    v_user_id    uuid;
    v_job_id     uuid;
    v_session_id uuid;
    v_job        recall.jobs;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select v_start + s.maintenance_lock_time into v_until from recall.settings as s;
    done := 0;

    for v_user_id, v_job_id, v_session_id in
        select j.user_id, j.job_id, j.session_id
          from recall.jobs as j
         where j.state = 'running'
           and j.lease_until < v_now
         order by j.lease_until
         limit p_limit::bigint + 100
    loop
        exit when done >= p_limit or clock_timestamp() >= v_until and done > 0;
        v_job := recall._try_lock_job(v_user_id, v_job_id, v_session_id, 'running');
        continue when v_job.job_id is null or v_job.lease_until >= v_now;
        perform recall._return_job(v_job, v_now + recall._backoff(v_job.attempts),
                                   format('the lease of worker %s expired', v_job.worker));
        done := done + 1;
    end loop;

    more := exists (
        select 1 from recall.jobs as j where j.state = 'running' and j.lease_until < v_now);
    return next;
end;
$function$;

comment on function recall.release_expired_leases(integer, timestamptz) is
    'Return jobs with an expired lease to the queue, one batch a call: done is their number, '
    'more whether others remain.';
