-- Return the characters of a text; of a ciphertext the bytes that it decrypts to, which are not
-- fewer. Zero for NULL.
-- Before the encrypted bytes stand 16 of the row and 12 of the nonce, behind them 16 of the tag.
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
    'Characters of a text; of a ciphertext the bytes that it decrypts to.';
