-- Run a rolling summary of a session: ask for each part that fits the model, then for the vector.
create or replace function recall._step_summarize(
    p_job  recall.jobs,
    p_work jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_limits constant jsonb   := jsonb '{"user": 2000, "assistant": 800, "tool": 200}';
    v_target constant integer := 200;
    v_made   constant jsonb   := case when p_work ? 'said' then p_work #> '{answered,keep}'
                                      else p_work -> 'made' end;
    -- The turns are not read again once the summary reaches the last one.
    v_input  constant jsonb   := case
        when coalesce(v_made -> 'read' = v_made -> 'through_turn', false) then '{}'
        else recall._summarize_input(p_job.user_id, p_job.session_id) end;
    v_step   jsonb;
begin
    v_step := recall._summary_step(p_job, p_work, 'summarize', v_input, v_target, v_limits);
    if v_step ? 'result' then
        v_step := jsonb_set(v_step, '{result,through_turn}',
                            coalesce(v_step #> '{made,through_turn}', v_input -> 'through_turn'));
    end if;
    return v_step;
end;
$function$;

comment on function recall._step_summarize(recall.jobs, jsonb) is
    'The step of a rolling summary: summarize, embed.';
