-- recall._content_hash(text) -> SHA-256 of the normalized text (32 bytes)
-- Of a ciphertext the HMAC of its text, which the driver put into it. Stable, as convert_to is:
-- immutable it would not be planned into the statement that asks, but be called.
create or replace function recall._content_hash(
    p_text text
)
returns bytea
language sql
stable
parallel safe
return case
    when recall._is_sealed(p_text) and split_part(p_text, ':', 5) <> ''
        then decode(translate(split_part(p_text, ':', 5), '-_', '+/') || '=', 'base64')
    else sha256(convert_to(recall._normalize_text(p_text), 'UTF8'))
end;

comment on function recall._content_hash(text) is
    'SHA-256 of the normalized text, or the HMAC in a ciphertext: the key of exact dedup.';
