-- Report queue, extraction, embeddings, summaries, dead_jobs and leases.
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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now    timestamptz := clock_timestamp();
    v_start  constant text := 'Start a worker, or more of them: pgrecall worker';
    v_count  bigint;
    v_oldest timestamptz;
begin
    return query
    with counts as materialized (
        select * from recall._job_counts()
    ), lags as (
        select 1 as place, 'queue' as subject, '%s jobs due, the oldest since %s' as words,
               interval '10 minutes' as warn, interval '1 hour' as fail,
               sum(c.due) as jobs, min(c.oldest_due) as oldest
          from counts as c
         union all
        select 2, 'extraction', '%s extractions late, the oldest turn waits since %s',
               interval '1 hour', interval '1 day', sum(c.late), min(c.oldest_late)
          from counts as c
         where c.kind = 'extract' and c.state <> 'dead'
         union all
        select 3, 'embeddings', '%s embedding jobs late, the oldest since %s',
               interval '1 hour', interval '1 day', sum(c.late), min(c.oldest_late)
          from counts as c
         where c.kind = 'embed' and c.state <> 'dead'
         union all
        -- Such jobs exist only where settings.summaries is llm.
        select 4, 'summaries', '%s summaries late, the oldest since %s',
               interval '1 hour', interval '1 day', sum(c.late), min(c.oldest_late)
          from counts as c
         where c.kind in ('compact', 'summarize') and c.state <> 'dead'
    ), rows as (
        select l.place, l.subject,
               case when l.oldest < v_now - l.fail then 'fail'
                    when l.oldest < v_now - l.warn then 'warn'
                    else 'ok' end as status,
               format(l.words, coalesce(l.jobs, 0),
                      coalesce(date_trunc('second', v_now - l.oldest)::text, 'no time')) as detail,
               v_start as hint
          from lags as l
         union all
        select 5, 'dead_jobs', case when sum(c.jobs) > 0 then 'fail' else 'ok' end,
               concat_ws(': ', format('%s jobs failed for good', coalesce(sum(c.jobs), 0)),
                         string_agg(format('%s %s', c.jobs, c.kind), ', ' order by c.kind)),
               'Read recall.jobs.last_error, then: select recall.retry_dead_jobs();'
          from counts as c
         where c.state = 'dead'
    )
    select r.subject, r.status, r.detail, case when r.status <> 'ok' then r.hint end
      from rows as r
     order by r.place;

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
end;
$function$;

comment on function recall._health_queue() is
    'Health of the queue: due jobs, late extractions, embeddings and summaries, dead jobs, '
    'leases.';
