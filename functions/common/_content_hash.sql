-- recall._content_hash(text) -> SHA-256 of the normalized text (32 bytes)
create or replace function recall._content_hash(
    p_text text
)
returns bytea
language sql
immutable
parallel safe
return sha256(convert_to(recall._normalize_text(p_text), 'UTF8'));

comment on function recall._content_hash(text) is
    'SHA-256 of the normalized text: the key of exact dedup.';
