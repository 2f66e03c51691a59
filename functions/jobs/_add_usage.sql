-- recall._add_usage(spans)
-- Tokens and cost of a job's calls belong to its session like those of its turns. Before anything
-- that waits for a turn, since an append holds its session before it looks at jobs.
-- Locks   the session, when there is one.
create or replace function recall._add_usage(
    p_phases recall.job_phases[]
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_now   timestamptz := clock_timestamp();
    v_usage record;
begin
    select sum(p.prompt_tokens) as prompt, sum(p.completion_tokens) as completion,
           coalesce(sum(p.cost_microcents), 0)::bigint as cost
      into v_usage
      from unnest(p_phases) as p;

    if p_phases[1].session_id is not null
       and v_usage.prompt + v_usage.completion + v_usage.cost > 0 then
        update recall.sessions as s
           set total_prompt_tokens     = s.total_prompt_tokens + v_usage.prompt,
               total_completion_tokens = s.total_completion_tokens + v_usage.completion,
               total_cost_microcents   = s.total_cost_microcents + v_usage.cost,
               updated_at              = v_now
         where s.user_id    = p_phases[1].user_id
           and s.session_id = p_phases[1].session_id;
    end if;
end;
$function$;

comment on function recall._add_usage(recall.job_phases[]) is
    'Add tokens and cost of a job''s spans to its session.';
