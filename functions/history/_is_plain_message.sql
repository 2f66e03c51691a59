-- Tell whether a message is a text with usual fields, each of the right type.
-- Such a message is valid, so that recall._judge_message is not called. It is one expression, so
-- that PostgreSQL inlines it. AND evaluates its operands in their order and stops at false, not at
-- NULL: only an object may come to the operator "-".
create or replace function recall._is_plain_message(
    p_message jsonb
)
returns boolean
language sql
stable
parallel safe
return coalesce(
    jsonb_typeof(p_message -> 'content') is not distinct from 'string'
    and p_message ->> 'role' in ('user', 'assistant', 'tool', 'system', 'developer')
    and p_message - '{role,content,name,tool_call_id,token_count,created_at,model_id,finish_reason,'
                    'metadata}'::text[] = '{}'
    and not p_message @? '$ ? (@.name.type() != "string" || @.tool_call_id.type() != "string" '
                         '|| exists(@.tool_call_id) && @.role != "tool" '
                         '|| !exists(@.tool_call_id) && @.role == "tool" '
                         '|| @.model_id.type() != "string" || @.finish_reason.type() != "string" '
                         '|| @.metadata.type() != "object")'
    and coalesce((p_message -> 'token_count')::text, '0') ~ '^[0-9]{1,9}$'
    and (not p_message ? 'created_at' or recall._is_calendar_time(p_message -> 'created_at')),
    false);

comment on function recall._is_plain_message(jsonb) is
    'Whether a message is a text with usual fields of the right type, and therefore valid.';
