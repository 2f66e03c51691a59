-- Return the SHA-256 of the normalized text (32 bytes).
-- For a ciphertext it is the HMAC of the plaintext, which the driver put into it. The function is
-- stable like convert_to: PostgreSQL would not inline it as immutable, but call it.
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
