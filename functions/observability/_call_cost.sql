-- recall._call_cost(model, prompt, completion, cached tokens) -> micro-cents by `models`, or NULL
create or replace function recall._call_cost(
    p_model             text,
    p_prompt_tokens     integer,
    p_completion_tokens integer,
    p_cached_tokens     integer
)
returns bigint
language sql
stable
parallel safe
begin atomic
    select round((m.input_price::numeric * (p_prompt_tokens - c.cached)
                  + m.cached_input_price::numeric * c.cached
                  + m.output_price::numeric * coalesce(p_completion_tokens, 0)) / 1000000)::bigint
      from recall.models as m
     cross join lateral (
            select least(coalesce(p_cached_tokens, 0), p_prompt_tokens)) as c (cached)
     where m.model_id = p_model
       and p_prompt_tokens is not null;
end;

comment on function recall._call_cost(text, integer, integer, integer) is
    'Cost of a call in micro-cents by the prices in models; NULL for a model that is not there.';
