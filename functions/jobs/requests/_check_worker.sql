-- Reject a value that does not describe what a worker offers.
-- NULL stands for what the worker said in its previous call.
-- Raises  RC003.
create or replace function recall._check_worker(
    p_worker jsonb
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_worker  constant jsonb := jsonb_strip_nulls(p_worker);
    v_problem text;
begin
    if p_worker is null then
        return;
    end if;
    perform recall._check_json(p_worker, 'p_worker');
    perform recall._check_keys(
        v_worker, '{chat_model,context_window,models,embedding_model,embedding_models,'
                  'embed_batch,embed_tokens,features,encryption}', 'p_worker');
    perform recall._check_keys(
        coalesce(v_worker -> 'models', '{}'),
        '{extract,consolidate,summarize,compact,merge,pattern,verify}', 'models of p_worker');
    perform recall._check_keys(
        coalesce(v_worker -> 'features', '{}'),
        '{response_format,schema_lengths,temperature,limit}', 'features of p_worker');

    select format('p_worker: %s is %s', v.name, left(v.value::text, 80))
      into v_problem
      from (
            select w.key, w.value,
                   case when w.key in ('chat_model', 'embedding_model')
                        then jsonb_typeof(w.value) = 'string' and w.value #>> '{}' <> ''
                        when w.key in ('context_window', 'embed_batch', 'embed_tokens')
                        then w.value::text ~ '^[1-9][0-9]{0,8}$'
                        when w.key = 'embedding_models'
                        then jsonb_typeof(w.value) = 'array'
                             and not jsonb_path_exists(
                                     w.value, 'strict $[*] ? (@.type() != "string" || @ == "")')
                        when w.key = 'encryption' then jsonb_typeof(w.value) = 'boolean'
                        else true end
              from jsonb_each(v_worker) as w
             union all
            select 'models.' || m.key, m.value,
                   jsonb_typeof(m.value) = 'object'
                   and m.value - '{model,context_window}'::text[] = '{}'
                   and coalesce(jsonb_typeof(m.value -> 'model'), 'string') = 'string'
                   and coalesce(m.value ->> 'model', '?') <> ''
                   and coalesce((m.value -> 'context_window')::text, '1') ~ '^[1-9][0-9]{0,8}$'
              from jsonb_each(coalesce(v_worker -> 'models', '{}')) as m
             union all
            select 'features.' || f.key, f.value,
                   case f.key
                       when 'response_format'
                           then f.value <@ '["json_schema", "json_object", "text"]'
                       when 'limit' then f.value <@ '["max_tokens", "max_completion_tokens"]'
                       else jsonb_typeof(f.value) = 'boolean' end
              from jsonb_each(coalesce(v_worker -> 'features', '{}')) as f
           ) as v (name, value, is_fit)
     where v.is_fit is not true
     limit 1;
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = v_problem,
            hint    = 'Keys: chat_model, context_window, models ({"extract": {"model": "…", '
                      '"context_window": n}}), embedding_model, embedding_models (a list), '
                      'embed_batch, embed_tokens, features, encryption.';
    end if;
end;
$function$;

comment on function recall._check_worker(jsonb) is
    'Reject (RC003) a value that does not describe what a worker offers.';
