-- Return the problem of a message after its path, or NULL when it is valid.
-- A valid message is always valid in the chat format, so that a compiled context never has to omit
-- one. It is one expression, so that PostgreSQL inlines it: a call takes 18 µs per message. For a
-- malformed field it returns the name only; recall._check_messages adds the value.
create or replace function recall._judge_message(
    p_message jsonb
)
returns text
language sql
stable
parallel safe
return coalesce(
    case
        when jsonb_typeof(p_message) <> 'object' then ' is not an object'
        when jsonb_typeof(p_message -> 'role') is distinct from 'string'
            or p_message ->> 'role' not in ('system', 'developer', 'user', 'assistant', 'tool',
                                            'function')
            then format('.role is %s', coalesce(left(p_message ->> 'role', 80), 'missing'))
        when jsonb_typeof(p_message -> 'content') not in ('string', 'array', 'null')
            or jsonb_typeof(p_message -> 'content') = 'array' and p_message ->> 'role' = 'function'
            then format('.content is %s, not text%s', jsonb_typeof(p_message -> 'content'),
                        case when p_message ->> 'role' <> 'function'
                             then ' or a list of parts' end)
        when p_message ->> 'content' is null and p_message ->> 'role' <> 'assistant'
            then '.content is missing'
        when jsonb_typeof(p_message -> 'tool_calls') <> 'null'
            and p_message ->> 'role' <> 'assistant'
            then format('.tool_calls in a message of role %s', p_message ->> 'role')
        when p_message ->> 'role' = 'tool'
            and jsonb_typeof(p_message -> 'tool_call_id') is distinct from 'string'
            then '.tool_call_id is missing'
        when p_message ->> 'role' = 'function'
            and jsonb_typeof(p_message -> 'name') is distinct from 'string'
            then '.name is missing in a message of role function'
    end,
    case when jsonb_typeof(p_message -> 'content') = 'array'
         then coalesce(
                  recall._judge_parts(p_message ->> 'role', p_message -> 'content'),
                  case when p_message ->> 'role' not in ('assistant', 'tool')
                            and p_message -> 'content' <> '[]'
                            and recall._shown_parts(p_message -> 'content') is null
                       then format('.content has items only in a message of role %s',
                                   p_message ->> 'role') end) end,
    case when jsonb_typeof(p_message -> 'tool_calls') <> 'null'
         then recall._judge_tool_calls(p_message -> 'tool_calls') end,
    -- Evaluated only for messages that have such a field.
    case when p_message - '{role,content,tool_calls,tool_call_id}'::text[] <> '{}'
         then '.' || recall._wrong_message_field(p_message) end);

comment on function recall._judge_message(jsonb) is
    'The problem of a message, after its path; NULL when it is valid.';
