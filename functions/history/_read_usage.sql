-- recall._read_usage(usage, session model, rows) -> what to add, and to which turn
-- Usage belongs to the last assistant message of the batch, else to its last message. An unknown
-- model costs nothing and says so (is_unpriced).
-- Raises  RC003.
create or replace function recall._read_usage(
    p_usage                 jsonb,
    p_model_id              text,
    p_rows                  recall.conversation_history[],
    out turn_index          integer,
    out prompt_tokens       integer,
    out completion_tokens   integer,
    out latency_ms          integer,
    out cost_microcents     bigint,
    out is_unpriced         boolean
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_usage  jsonb;
    v_key    text;
    v_model  text;
    v_cached integer;
begin
    is_unpriced := false;
    if p_usage is null or p_usage = 'null' then
        return;
    end if;
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

    select r.turn_index, coalesce(r.model_id, p_model_id)
      into _read_usage.turn_index, v_model
      from unnest(p_rows) as r
     order by (r.role = 'assistant') desc, r.turn_index desc
     limit 1;

    prompt_tokens     := coalesce((v_usage ->> 'prompt_tokens')::integer, 0);
    completion_tokens := coalesce((v_usage ->> 'completion_tokens')::integer, 0);
    latency_ms        := (v_usage ->> 'latency_ms')::integer;
    cost_microcents   := (v_usage ->> 'cost_microcents')::bigint;
    if cost_microcents is not null then
        return;
    end if;

    v_cached := least(prompt_tokens, coalesce((v_usage ->> 'cached_tokens')::integer, 0));
    select round((m.input_price::numeric * (prompt_tokens - v_cached)
                  + m.cached_input_price::numeric * v_cached
                  + m.output_price::numeric * completion_tokens) / 1000000)
      into cost_microcents
      from recall.models as m
     where m.model_id = v_model;

    is_unpriced     := not found;
    cost_microcents := coalesce(cost_microcents, 0);
end;
$function$;

comment on function recall._read_usage(jsonb, text, recall.conversation_history[]) is
    'Usage of a call, its cost (micro-cents) by the prices in models, and the turn it belongs to.';
