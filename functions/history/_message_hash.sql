-- Return message_hash for internal statements.
-- It uses stable functions only, so PostgreSQL inlines it. The immutable message_hash costs a call
-- (7 µs per message).
create or replace function recall._message_hash(
    p_message jsonb
)
returns bytea
language sql
stable
parallel safe
return sha256(convert_to(
    jsonb_build_array(
        p_message -> 'role',
        nullif(p_message -> 'content', 'null'),
        nullif(nullif(p_message -> 'tool_calls', 'null'), '[]'),
        nullif(p_message -> 'tool_call_id', 'null'))::text,
    'UTF8'));

comment on function recall._message_hash(jsonb) is
    'SHA-256 over role, content or parts, tool calls and tool call id of a message.';
