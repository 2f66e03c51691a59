-- recall._health_queue() -> queue, leases, dead_jobs
create or replace function recall._health_queue()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_now    timestamptz := clock_timestamp();
    v_count  bigint;
    v_oldest timestamptz;
begin
    select count(*), min(j.run_at)
      into v_count, v_oldest
      from recall.jobs as j
     where j.state = 'ready'
       and j.run_at <= v_now;
    return query
    select 'queue', case when v_oldest < v_now - interval '1 hour' then 'fail'
                         when v_oldest < v_now - interval '10 minutes' then 'warn'
                         else 'ok' end,
           format('%s jobs due, the oldest since %s', v_count,
                  coalesce(date_trunc('second', v_now - v_oldest)::text, 'no time')),
           case when v_oldest < v_now - interval '10 minutes'
                then 'Start a worker: pgrecall worker' end;

    select count(*), min(j.lease_until)
      into v_count, v_oldest
      from recall.jobs as j
     where j.state = 'running'
       and j.lease_until < v_now;
    return query
    select 'leases', case when v_oldest < v_now - interval '5 minutes' then 'warn' else 'ok' end,
           format('%s jobs run past their lease', v_count),
           case when v_oldest < v_now - interval '5 minutes'
                then 'select * from recall.release_expired_leases();' end;

    select count(*) into v_count from recall.jobs as j where j.state = 'dead';
    return query
    select 'dead_jobs', case when v_count > 0 then 'fail' else 'ok' end,
           format('%s jobs failed for good', v_count),
           case when v_count > 0
                then 'Read recall.jobs.last_error, then: select recall.retry_dead_jobs();' end;
end;
$function$;

comment on function recall._health_queue() is
    'Health of the queue: due jobs, lapsed leases, dead jobs.';
