-- recall._judge_message_fields(message) -> the first problem, or NULL
-- The fields that we add to the chat format.
create or replace function recall._judge_message_fields(
    p_message jsonb
)
returns text
language sql
immutable
parallel safe
return (
    select format('.%s is %s', f.key, left(f.value::text, 80))
      from jsonb_each(p_message) as f
     where f.value <> 'null'
       and case f.key
               when 'name' then jsonb_typeof(f.value) <> 'string'
               when 'model_id' then jsonb_typeof(f.value) <> 'string'
               when 'finish_reason' then jsonb_typeof(f.value) <> 'string'
               when 'refusal' then jsonb_typeof(f.value) <> 'string'
               when 'metadata' then jsonb_typeof(f.value) <> 'object'
               when 'token_count' then f.value::text !~ '^[0-9]{1,9}$'
               when 'latency_ms' then f.value::text !~ '^[0-9]{1,9}$'
               when 'model_call_id' then not pg_input_is_valid(f.value #>> '{}', 'uuid')
               when 'created_at' then jsonb_typeof(f.value) <> 'string'
                   or not pg_input_is_valid(f.value #>> '{}', 'timestamptz')
                   or not isfinite((f.value #>> '{}')::timestamptz)
               else false
           end
     order by f.key
     limit 1
);

comment on function recall._judge_message_fields(jsonb) is
    'First thing wrong with the fields that we add to a message; NULL when all is well.';
