-- Convert a stored message into a message for chat.completions.create.
-- Items among its parts are left out. An assistant message without content and calls (a filtered
-- answer) gets an empty text, which the API accepts.
create or replace function recall._message_json(
    p_role          text,
    p_content       text,
    p_content_parts jsonb,
    p_name          text,
    p_tool_calls    jsonb,
    p_tool_call_id  text
)
returns jsonb
language sql
immutable
parallel safe
return jsonb_build_object(
           'role', p_role,
           'content', coalesce(to_jsonb(p_content), recall._shown_parts(p_content_parts),
                               case when p_tool_calls is null then '""'::jsonb end))
       || case when p_name is null or p_role = 'tool' then '{}'::jsonb
               else jsonb_build_object('name', p_name) end
       || case when p_tool_calls is null then '{}'::jsonb
               else jsonb_build_object('tool_calls', p_tool_calls) end
       || case when p_tool_call_id is null then '{}'::jsonb
               else jsonb_build_object('tool_call_id', p_tool_call_id) end;

comment on function recall._message_json(text, text, jsonb, text, jsonb, text) is
    'A stored message in the shape of the OpenAI chat format.';
