-- Tell whether models see something of a message: false when all that it holds are items.
create or replace function recall._is_shown(
    p_parts        jsonb,
    p_tool_calls   jsonb,
    p_tool_call_id text
)
returns boolean
language sql
immutable
parallel safe
return p_parts is null
       or p_tool_calls is not null
       or p_tool_call_id is not null
       or recall._shown_parts(p_parts) is not null;

comment on function recall._is_shown(jsonb, jsonb, text) is
    'Whether models see something of a message, and not only a framework.';
