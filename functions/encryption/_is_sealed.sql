-- recall._is_sealed(text) -> is it a ciphertext of a driver?
-- sealed:v1:<key number>:<field>:<HMAC of the text, or nothing>:<row and ciphertext>, the last two
-- as base64url. It is the driver's business; here it is only told from other texts.
create or replace function recall._is_sealed(
    p_text text
)
returns boolean
language sql
immutable
parallel safe
return starts_with(p_text collate "C", 'sealed:v1:')
       and p_text collate "C"
           ~ '^sealed:v1:[0-9]{1,5}:[a-z]+:([A-Za-z0-9_-]{43})?:[A-Za-z0-9_-]{60,}$';

comment on function recall._is_sealed(text) is
    'Whether a text is a ciphertext in the form that the driver gives it.';
