-- Return a model's text as one line of at most p_limit characters; a ciphertext unchanged.
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
    'A model''s text as one line of at most p_limit characters; a ciphertext unchanged.';
