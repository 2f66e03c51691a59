-- Return what a model wrote as one line of a length; a ciphertext as it is.
create or replace function recall._clean_line(
    p_text  text,
    p_limit integer
)
returns text
language sql
immutable
parallel safe
return case when recall._is_sealed(p_text) then p_text
            else rtrim(left(btrim(regexp_replace(p_text, '\s+', ' ', 'g')), p_limit)) end;

comment on function recall._clean_line(text, integer) is
    'What a model wrote as one line of at most so many characters.';
