-- recall._message_extra(message) -> {"extra": {…}} or {}
-- Fields of a message that have no column, so that nothing a provider sent is lost.
create or replace function recall._message_extra(
    p_message jsonb
)
returns jsonb
language sql
immutable
parallel safe
return (
    select case when x.fields = '{}' then '{}'::jsonb
                else jsonb_build_object('extra', x.fields) end
      from jsonb_strip_nulls(
               p_message
               - '{role,content,name,tool_calls,tool_call_id,token_count}'::text[]
               - '{created_at,model_id,finish_reason,latency_ms}'::text[]
               - '{model_call_id,metadata}'::text[]
               - (case when p_message ->> 'content' is null then 'refusal' else '' end)
           ) as x (fields)
);

comment on function recall._message_extra(jsonb) is
    'Fields of a message without a column, as metadata {"extra": …}.';
