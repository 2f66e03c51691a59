-- Compute the cost of a call in micro-cents from `models`; NULL for an unregistered model.
create or replace function recall._call_cost(
    p_model             text,
    p_prompt_tokens     integer,
    p_completion_tokens integer,
    p_cached_tokens     integer
)
returns bigint
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_cost bigint;
begin
    select round((m.input_price::numeric * p_prompt_tokens
                  - (m.input_price - m.cached_input_price)::numeric
                    * least(coalesce(p_cached_tokens, 0), p_prompt_tokens)
                  + m.output_price::numeric * coalesce(p_completion_tokens, 0)) / 1000000)
      into v_cost
      from recall.models as m
     where m.model_id = p_model;
    return v_cost;
end;
$function$;

comment on function recall._call_cost(text, integer, integer, integer) is
    'Cost of a call in micro-cents by the prices in models; NULL for an unregistered model.';
