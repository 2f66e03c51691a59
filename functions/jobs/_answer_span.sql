-- Return the span of an answer: time, tokens, and cost at the prices in recall.models.
create or replace function recall._answer_span(
    p_question jsonb,
    p_answer   jsonb,
    p_problem  text
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_purpose    constant text    := p_question ->> 'purpose';
    v_model      constant text    := p_question ->> 'model';
    v_prompt     constant integer := recall._token_number(p_answer #> '{usage,prompt_tokens}');
    v_completion constant integer := recall._token_number(p_answer #> '{usage,completion_tokens}');
    v_cached     constant integer := recall._token_number(
        p_answer #> '{usage,prompt_tokens_details,cached_tokens}');
begin
    return jsonb_strip_nulls(jsonb_build_object(
        'phase', case when v_purpose in ('summarize', 'compact') then 'summary'
                      when v_purpose = 'select' then 'extract'
                      else v_purpose end,
        'duration_ms', coalesce((p_answer ->> 'latency_ms')::numeric, 0),
        'items', coalesce((p_question ->> 'count')::integer, 0),
        'model_id', v_model,
        'prompt_tokens', v_prompt,
        'completion_tokens', v_completion,
        'cost_microcents', recall._call_cost(regexp_replace(v_model, '^openai:', ''), v_prompt,
                                             v_completion, v_cached),
        'error', left(p_problem, 2000)));
end;
$function$;

comment on function recall._answer_span(jsonb, jsonb, text) is
    'Span of an answer in the form that fail_job takes: phase, duration_ms, items, tokens, cost.';
