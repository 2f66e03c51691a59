-- Return the SHA-256 of a prompt: its text, a line break, its schema.
create or replace function recall._prompt_checksum(
    p_content text,
    p_schema  jsonb
)
returns bytea
language sql
stable
parallel safe
return sha256(convert_to(p_content || E'\n' || p_schema::text, 'UTF8'));

comment on function recall._prompt_checksum(text, jsonb) is
    'SHA-256 of a prompt: its text, a line break, its schema.';
