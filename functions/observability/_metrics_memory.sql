-- Return memories by tier, sessions by state, items, and events and rates of the last day.
-- The BRIN index on time finds the events. The relevance of accesses is known until they are
-- counted; the budget efficiency (η) of some contexts is kept for a day.
create or replace function recall._metrics_memory()
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
    select 'pgrecall_memories_estimate', t.rows_, jsonb_build_object('tier', t.item)
      from recall._estimated_rows('memory_store', 'tier') as t
     union all
    select 'pgrecall_memory_kinds_estimate', k.rows_, jsonb_build_object('kind', k.item)
      from recall._estimated_rows('memory_store', 'kind') as k
     union all
    select 'pgrecall_sessions_estimate', s.rows_, jsonb_build_object('status', s.item)
      from recall._estimated_rows('sessions', 'status') as s;

    return query
    with events as materialized (
        select e.event, count(*) as events
          from recall.memory_events as e
         where e.at > v_now - interval '1 day'
         group by e.event
    ), sums as (
        select sum(e.events) filter (
                   where e.event in ('added', 'duplicate', 'merged', 'superseded', 'disputed')
               )::float8 as written,
               sum(e.events) filter (where e.event = 'added')::float8 as added,
               sum(e.events) filter (where e.event in ('duplicate', 'merged'))::float8 as repeated,
               sum(e.events) filter (where e.event = 'superseded')::float8 as superseded,
               sum(e.events) filter (where e.event = 'promoted')::float8 as promoted
          from events as e
    )
    select 'pgrecall_memory_events_last_day', e.events::float8,
           jsonb_build_object('event', e.event)
      from events as e
     union all
    -- A refused consolidation has one event for each of its memories.
    select 'pgrecall_refused_merges_last_day',
           count(distinct (r.job_id, r.detail ->> 'content'))::float8, '{}'::jsonb
      from recall.memory_events as r
     where r.at > v_now - interval '1 day'
       and r.event = 'merge_refused'
     union all
    select m.name, coalesce(m.part, 0) / greatest(coalesce(m.whole, 0), 1), '{}'::jsonb
      from sums as s
     cross join lateral (
            values ('pgrecall_duplicate_ratio_last_day', s.repeated, s.written),
                   ('pgrecall_supersession_ratio_last_day', s.superseded, s.written),
                   ('pgrecall_promotion_ratio_last_day', s.promoted, s.added)
           ) as m (name, part, whole);

    return query
    select 'pgrecall_items_estimate', greatest(sum(c.reltuples), 0)::float8, '{}'::jsonb
      from recall._leaf_tables('recall.items') as h
      join pg_class as c on c.oid = h.relid
     union all
    -- Bounded, since expire_items may be far behind.
    select 'pgrecall_expired_items', count(*)::float8, '{}'::jsonb
      from (select i.user_id from recall.items as i where i.expires_at <= v_now limit 10000) as d;

    -- The table is UNLOGGED, so a standby cannot read it.
    if not pg_is_in_recovery() then
        return query
        select m.name, m.value, '{}'::jsonb
          from (
                select count(*)::float8 as accesses, coalesce(avg(l.relevance), 0) as relevance
                  from (select d.relevance from recall.memory_access_log as d limit 10000) as l
               ) as a
         cross join lateral (
                values ('pgrecall_uncounted_accesses', a.accesses),
                       ('pgrecall_context_relevance', a.relevance)
               ) as m (name, value);

        return query
        select 'pgrecall_context_efficiency_median_last_day',
               percentile_cont(0.5) within group (order by l.efficiency), '{}'::jsonb
          from (
                select e.efficiency
                  from recall.context_efficiency as e
                 where e.measured_at > v_now - interval '1 day'
                 order by e.measured_at desc
                 limit 10000
               ) as l
        having count(*) > 0;

        return query
        select m.name, m.value, jsonb_build_object('kind', r.kind)
          from (
                select a.kind, avg(a.share) as share, count(*)::float8 as samples
                  from recall.recall_samples as a
                 group by a.kind
               ) as r
         cross join lateral (
                values ('pgrecall_search_recall', r.share),
                       ('pgrecall_search_recall_samples', r.samples)
               ) as m (name, value);
    end if;
end;
$function$;

comment on function recall._metrics_memory() is
    'Metrics of memories and items: by tier, events and rates of the last day, relevance of the '
    'memories used in contexts, budget efficiency, and recall of approximate searches.';
