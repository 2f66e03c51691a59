-- recall._with_usage(message, usage, model) -> the message, with usage and cost
-- The model is the session's, should the message name none. An unknown one costs nothing, and the
-- message says so (unpriced_model).
-- Raises  RC003.
create or replace function recall._with_usage(
    p_message  recall.conversation_history,
    p_usage    jsonb,
    p_model_id text
)
returns recall.conversation_history
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_usage  jsonb;
    v_key    text;
    v_cached integer;
begin
    perform recall._check_keys(
        p_usage,
        array['prompt_tokens', 'completion_tokens', 'total_tokens', 'cached_tokens', 'latency_ms',
              'cost_microcents', 'prompt_tokens_details', 'completion_tokens_details'],
        'p_usage');
    v_usage := p_usage || jsonb_build_object('cached_tokens', coalesce(
        nullif(p_usage -> 'cached_tokens', 'null'),
        p_usage #> '{prompt_tokens_details,cached_tokens}'));
    foreach v_key in array array['prompt_tokens', 'completion_tokens', 'total_tokens',
                                 'cached_tokens', 'latency_ms', 'cost_microcents'] loop
        if coalesce(v_usage ->> v_key, '0')
           !~ (case v_key when 'cost_microcents' then '^[0-9]{1,15}$' else '^[0-9]{1,9}$' end) then
            raise exception using
                errcode = 'RC003',
                message = format('p_usage.%s is %s', v_key, left(v_usage ->> v_key, 80)),
                hint    = 'A whole number of zero or more (tokens, milliseconds, micro-cents).';
        end if;
    end loop;

    p_message.prompt_tokens     := coalesce((v_usage ->> 'prompt_tokens')::integer, 0);
    p_message.completion_tokens := coalesce((v_usage ->> 'completion_tokens')::integer, 0);
    p_message.latency_ms        := coalesce(p_message.latency_ms,
                                            (v_usage ->> 'latency_ms')::integer);
    p_message.cost_microcents   := (v_usage ->> 'cost_microcents')::bigint;
    if p_message.cost_microcents is not null then
        return p_message;
    end if;

    v_cached := least(p_message.prompt_tokens,
                      coalesce((v_usage ->> 'cached_tokens')::integer, 0));
    select round((m.input_price::numeric * (p_message.prompt_tokens - v_cached)
                  + m.cached_input_price::numeric * v_cached
                  + m.output_price::numeric * p_message.completion_tokens) / 1000000)
      into p_message.cost_microcents
      from recall.models as m
     where m.model_id = coalesce(p_message.model_id, p_model_id);
    if not found then
        p_message.metadata := p_message.metadata || '{"unpriced_model": true}';
    end if;
    p_message.cost_microcents := coalesce(p_message.cost_microcents, 0);
    return p_message;
end;
$function$;

comment on function recall._with_usage(recall.conversation_history, jsonb, text) is
    'A message with the usage of its call, and the cost (micro-cents) by the prices in models.';
