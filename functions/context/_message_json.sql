-- recall._message_json(row) -> a message for chat.completions.create
-- An assistant message without content and calls (a filtered answer) becomes an empty text, which
-- the API takes.
create or replace function recall._message_json(
    p_row recall.conversation_history
)
returns jsonb
language sql
immutable
parallel safe
return jsonb_build_object(
           'role', p_row.role,
           'content', coalesce(to_jsonb(p_row.content), p_row.content_parts,
                               case when p_row.tool_calls is null then '""'::jsonb end))
       || case when p_row.name is null or p_row.role = 'tool' then '{}'::jsonb
               else jsonb_build_object('name', p_row.name) end
       || case when p_row.tool_calls is null then '{}'::jsonb
               else jsonb_build_object('tool_calls', p_row.tool_calls) end
       || case when p_row.tool_call_id is null then '{}'::jsonb
               else jsonb_build_object('tool_call_id', p_row.tool_call_id) end;

comment on function recall._message_json(recall.conversation_history) is
    'A stored message in the shape of the OpenAI chat format.';
