-- Return the SHA-256 by which a request id is checked against its first payload.
-- The text of a JSON array is unambiguous: jsonb sorts keys and keeps the digits of numbers. Stable
-- functions only, so that PostgreSQL inlines it.
create or replace function recall._payload_digest(
    p_messages jsonb,
    p_usage    jsonb
)
returns bytea
language sql
stable
parallel safe
return sha256(convert_to(jsonb_build_array(p_messages, nullif(p_usage, 'null'))::text, 'UTF8'));

comment on function recall._payload_digest(jsonb, jsonb) is
    'SHA-256 of messages and usage, by which a repeated append is recognized.';
