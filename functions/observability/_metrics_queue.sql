-- Return metrics of the job queue: depth and lag by kind, dead jobs, waiting extractions.
create or replace function recall._metrics_queue()
returns table (
    name   text,
    value  double precision,
    labels jsonb
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
    with counts as materialized (
        select * from recall._job_counts()
    )
    select 'pgrecall_jobs', c.jobs::float8,
           jsonb_build_object('kind', c.kind, 'state', c.state)
      from counts as c
     union all
    select 'pgrecall_jobs_due', c.due::float8, jsonb_build_object('kind', c.kind)
      from counts as c
     where c.state = 'ready'
     union all
    select 'pgrecall_job_lag_seconds',
           coalesce(extract(epoch from v_now - c.oldest_due), 0)::float8,
           jsonb_build_object('kind', c.kind)
      from counts as c
     where c.state = 'ready'
     union all
    select 'pgrecall_dead_jobs', coalesce(sum(c.jobs), 0)::float8, '{}'::jsonb
      from counts as c
     where c.state = 'dead'
     union all
    select 'pgrecall_oldest_unextracted_seconds',
           coalesce(extract(epoch from v_now - min(c.oldest_late)), 0)::float8, '{}'::jsonb
      from counts as c
     where c.kind = 'extract' and c.state <> 'dead'
     union all
    select 'pgrecall_embedding_backlog_jobs', coalesce(sum(c.jobs), 0)::float8, '{}'::jsonb
      from counts as c
     where c.kind = 'embed' and c.state <> 'dead';
end;
$function$;

comment on function recall._metrics_queue() is
    'Metrics of the queue: depth and lag by kind, dead jobs, pending extraction.';
