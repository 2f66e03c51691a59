-- Return the numbers of a usage object, or NULL when none is given.
-- Missing prompt and completion tokens become 0; other missing numbers stay NULL. One test covers
-- the fields that nearly every call has.
-- Raises  RC003.
create or replace function recall._read_usage(
    p_usage jsonb
)
returns recall.call_usage
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_key text;
begin
    if p_usage is null or p_usage = 'null' then
        return null;
    end if;
    if p_usage @? 'strict $ ? (@.type() != "object" '
                  '|| exists(@.* ? (@.type() != "number" || @ < 0 || @ > 999999999)))'
       or p_usage - '{prompt_tokens,completion_tokens,total_tokens,cached_tokens}'::text[] <> '{}'
       or strpos(p_usage::text, '.') > 0 then
        perform recall._check_keys(
            p_usage,
            array['prompt_tokens', 'completion_tokens', 'total_tokens', 'cached_tokens',
                  'latency_ms', 'cost_microcents', 'prompt_tokens_details',
                  'completion_tokens_details'],
            'p_usage');
        p_usage := p_usage || jsonb_build_object('cached_tokens', coalesce(
            nullif(p_usage -> 'cached_tokens', 'null'),
            p_usage #> '{prompt_tokens_details,cached_tokens}'));
        foreach v_key in array array['prompt_tokens', 'completion_tokens', 'total_tokens',
                                     'cached_tokens', 'latency_ms', 'cost_microcents'] loop
            if coalesce(p_usage ->> v_key, '0')
               !~ (case v_key when 'cost_microcents' then '^[0-9]{1,15}$'
                              else '^[0-9]{1,9}$' end) then
                raise exception using
                    errcode = 'RC003',
                    message = format('p_usage.%s is %s', v_key, left(p_usage ->> v_key, 80)),
                    hint    = 'A whole number of zero or more (tokens, milliseconds, '
                              'micro-cents).';
            end if;
        end loop;
    end if;
    return row(coalesce((p_usage ->> 'prompt_tokens')::integer, 0),
               coalesce((p_usage ->> 'completion_tokens')::integer, 0),
               (p_usage ->> 'cached_tokens')::integer, (p_usage ->> 'latency_ms')::integer,
               (p_usage ->> 'cost_microcents')::bigint)::recall.call_usage;
end;
$function$;

comment on function recall._read_usage(jsonb) is
    'The checked numbers in the usage of a model call (RC003).';
