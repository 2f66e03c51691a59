-- Tell whether a text is a driver's ciphertext.
-- The form is `sealed:v1:<key number>:<field>:<HMAC of the text, or nothing>:<row and ciphertext>`.
-- The last two are in base64url. Only drivers interpret them.
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
    'Whether a text has the form of a driver''s ciphertext.';
