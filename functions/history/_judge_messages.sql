-- recall._judge_messages(messages) -> the first problem, or NULL
-- One pass over the list. What passes is always a valid message of the chat format, so that a
-- compiled context never has to leave one out.
create or replace function recall._judge_messages(
    p_messages jsonb
)
returns text
language sql
stable
parallel safe
begin atomic
    select format('messages[%s]%s', e.ordinal - 1, p.problem)
      from jsonb_array_elements(p_messages) with ordinality as e (message, ordinal)
     cross join lateral (
            select e.message ->> 'role'                                as role,
                   coalesce(jsonb_typeof(e.message -> 'content'), 'null')    as content,
                   coalesce(jsonb_typeof(e.message -> 'tool_calls'), 'null') as tool_calls
           ) as t
     cross join lateral (
            select coalesce(
                case
                    when jsonb_typeof(e.message) <> 'object' then ' is not an object'
                    when jsonb_typeof(e.message -> 'role') is distinct from 'string'
                        or t.role not in ('system', 'developer', 'user', 'assistant', 'tool',
                                          'function')
                        then format('.role is %s', coalesce(left(e.message ->> 'role', 80),
                                                            'missing'))
                    when t.content not in ('string', 'array', 'null')
                        or t.content = 'array' and t.role = 'function'
                        then format('.content is %s, not text%s', t.content,
                                    case when t.role <> 'function' then ' or a list of parts' end)
                    when t.content = 'null' and t.role <> 'assistant'
                        then '.content is missing'
                    when t.tool_calls <> 'null' and t.role <> 'assistant'
                        then format('.tool_calls in a message of role %s', t.role)
                    when t.role = 'tool'
                        and jsonb_typeof(e.message -> 'tool_call_id') is distinct from 'string'
                        then '.tool_call_id is missing'
                    when t.role = 'function'
                        and jsonb_typeof(e.message -> 'name') is distinct from 'string'
                        then '.name is missing in a message of role function'
                end,
                case when t.content = 'array'
                    then recall._judge_parts(t.role, e.message -> 'content') end,
                case when t.tool_calls <> 'null'
                    then recall._judge_tool_calls(e.message -> 'tool_calls') end,
                recall._judge_message_fields(e.message))
           ) as p (problem)
     where p.problem is not null
     order by e.ordinal
     limit 1;
end;

comment on function recall._judge_messages(jsonb) is
    'First thing wrong with a list of messages, naming element and field; NULL when all is well.';
