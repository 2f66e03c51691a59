-- Add tokens and cost of a job's calls to its session.
-- Call it before anything that may wait for an append: an append locks its session, then reads
-- jobs.
-- Locks   the session, when there is one.
create or replace function recall._add_usage(
    p_phases recall.job_phases[]
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_now        timestamptz := clock_timestamp();
    v_phase      recall.job_phases;
    v_prompt     bigint := 0;
    v_completion bigint := 0;
    v_cost       bigint := 0;
begin
    foreach v_phase in array coalesce(p_phases, '{}'::recall.job_phases[]) loop
        v_prompt     := v_prompt + v_phase.prompt_tokens;
        v_completion := v_completion + v_phase.completion_tokens;
        v_cost       := v_cost + coalesce(v_phase.cost_microcents, 0);
    end loop;

    if v_phase.session_id is not null and v_prompt + v_completion + v_cost > 0 then
        update recall.sessions as s
           set total_prompt_tokens     = s.total_prompt_tokens + v_prompt,
               total_completion_tokens = s.total_completion_tokens + v_completion,
               total_cost_microcents   = s.total_cost_microcents + v_cost,
               updated_at              = v_now
         where s.user_id    = v_phase.user_id
           and s.session_id = v_phase.session_id;
    end if;
end;
$function$;

comment on function recall._add_usage(recall.job_phases[]) is
    'Add tokens and cost of a job''s spans to its session.';
