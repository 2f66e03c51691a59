-- Return the characters of a text, or the decrypted bytes of a ciphertext; 0 for NULL.
-- The bytes are not fewer than the characters. A ciphertext has 16 bytes of row id and 12 of nonce
-- in front, and a 16-byte tag behind.
create or replace function recall._text_length(
    p_text text
)
returns integer
language sql
immutable
parallel safe
return case when recall._is_sealed(p_text)
            then greatest(0, length(split_part(p_text, ':', 6)) * 3 / 4 - 44)
            else coalesce(length(p_text), 0) end;

comment on function recall._text_length(text) is
    'Characters of a text; for a ciphertext, the bytes that it decrypts to.';
