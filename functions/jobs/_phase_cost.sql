-- Return the cost of a span in micro-cents, priced by `models` when no cost is given.
-- A cost of zero for a model that is not in `models` is unknown, so it becomes NULL: health()
-- reports it, and no spending is added.
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
