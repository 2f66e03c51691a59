-- Return job spans of the last day, and the cost of models.
-- The BRIN index on time finds the spans.
create or replace function recall._metrics_work()
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
    v_day date        := v_now at time zone 'UTC';
begin
    return query
    with spans as materialized (
        select p.kind, p.phase, coalesce(p.model_id, '') as model, count(*) as spans,
               count(p.error) as errors, sum(p.duration_ms) / 1000 as seconds,
               sum(p.prompt_tokens) as prompt_tokens,
               sum(p.completion_tokens) as completion_tokens,
               coalesce(sum(p.cost_microcents), 0) as microcents
          from recall.job_phases as p
         where p.created_at > v_now - interval '1 day'
         group by 1, 2, 3
    ), listed as (
        select s.*, jsonb_build_object('kind', s.kind, 'phase', s.phase, 'model', s.model) as labels
          from spans as s
    )
    select m.name, m.value::float8, l.labels || m.more
      from listed as l
     cross join lateral (
            values ('pgrecall_phases_last_day', l.spans::numeric, '{}'::jsonb),
                   ('pgrecall_phase_errors_last_day', l.errors, '{}'),
                   ('pgrecall_phase_seconds_last_day', l.seconds::numeric, '{}'),
                   ('pgrecall_phase_tokens_last_day', l.prompt_tokens, '{"direction": "prompt"}'),
                   ('pgrecall_phase_tokens_last_day', l.completion_tokens,
                    '{"direction": "completion"}'),
                   ('pgrecall_phase_cost_dollars_last_day', l.microcents / 1e8, '{}')
           ) as m (name, value, more)
     union all
    select 'pgrecall_compactions_last_day', coalesce(sum(s.spans - s.errors), 0)::float8,
           '{}'::jsonb
      from spans as s
     where s.kind = 'compact'
     union all
    -- Tokens read for each token kept; the goal is five.
    select 'pgrecall_compaction_ratio_last_day',
           coalesce(sum(s.prompt_tokens) / nullif(sum(s.completion_tokens), 0), 0)::float8,
           '{}'::jsonb
      from spans as s
     where s.kind = 'compact'
     union all
    select 'pgrecall_cost_dollars', coalesce(sum(t.cost_microcents), 0)::float8 / 1e8,
           jsonb_build_object('day', d.day)
      from (values (v_day, 'today'), (v_day - 1, 'yesterday')) as d (date, day)
      left join recall.model_spending_totals as t on t.day = d.date
     group by d.day;
end;
$function$;

comment on function recall._metrics_work() is
    'Metrics of work: spans, errors, seconds, tokens and cost by kind, phase and model.';
