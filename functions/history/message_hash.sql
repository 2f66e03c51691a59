-- Return the identity of a message in a list that the caller may cut or summarize.
-- The hash is SHA-256 over role, content or parts, tool calls and tool call id, in that order.
-- Raises  RC003.
create or replace function recall.message_hash(
    p_message jsonb
)
returns bytea
language plpgsql
immutable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._check_json(p_message, 'p_message', 64, 2147483647);
    return recall._message_hash(p_message);
end;
$function$;

comment on function recall.message_hash(jsonb) is
    'SHA-256 (32 bytes) over role, content or parts, tool calls and tool call id of a message. '
    'RC003: JSON that clients could not parse.';
