-- Return a 64-bit hash by which a request id is checked against its first payload.
create or replace function recall._payload_hash(
    p_messages jsonb,
    p_usage    jsonb
)
returns bigint
language sql
immutable
parallel safe
return jsonb_hash_extended(
    p_messages, coalesce(jsonb_hash_extended(nullif(p_usage, 'null'), 1), 0));

comment on function recall._payload_hash(jsonb, jsonb) is
    'Hash of messages and usage, by which a repeated append is recognized.';
