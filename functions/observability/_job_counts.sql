-- Count jobs by kind and state in one pass over the queue.
-- Late jobs are due jobs and failed jobs that wait for a retry.
create or replace function recall._job_counts()
returns table (
    kind        text,
    state       recall.job_state,
    jobs        bigint,
    due         bigint,
    oldest_due  timestamptz,
    late        bigint,
    oldest_late timestamptz
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now timestamptz := clock_timestamp();
begin
    return query
    select j.kind, j.state, count(*),
           count(*) filter (where j.state = 'ready' and j.run_at <= v_now),
           min(j.run_at) filter (where j.state = 'ready' and j.run_at <= v_now),
           count(*) filter (where j.run_at <= v_now or j.attempts > 0),
           min(j.created_at) filter (where j.run_at <= v_now or j.attempts > 0)
      from recall.jobs as j
     group by j.kind, j.state;
end;
$function$;

comment on function recall._job_counts() is
    'Jobs by kind and state: how many, how many are due or late, and since when.';
