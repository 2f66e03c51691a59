-- recall._phase_cost(model, prompt tokens, completion tokens, cost) -> micro-cents, or NULL
-- Tokens without a cost are priced by `models`. A cost of zero for a model that is not known there
-- says nothing: it becomes NULL, which health() names, and costs nothing.
create or replace function recall._phase_cost(
    p_model_id          text,
    p_prompt_tokens     integer,
    p_completion_tokens integer,
    p_cost_microcents   bigint
)
returns bigint
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_cost bigint;
begin
    if p_prompt_tokens + p_completion_tokens = 0 or p_cost_microcents > 0 then
        return coalesce(p_cost_microcents, 0);
    end if;

    select coalesce(p_cost_microcents, ceil((m.input_price::numeric * p_prompt_tokens
                                             + m.output_price::numeric * p_completion_tokens)
                                            / 1000000))
      into v_cost
      from recall.models as m
     where m.model_id = regexp_replace(p_model_id, '^openai:', '');
    return v_cost;
end;
$function$;

comment on function recall._phase_cost(text, integer, integer, bigint) is
    'Cost of a span in micro-cents, by the prices in models when none is given; NULL: unknown.';
