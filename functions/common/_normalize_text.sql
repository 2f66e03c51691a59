-- recall._normalize_text(text) -> the form in which two texts are the same text
-- Unicode NFKC, case folded, white space collapsed, trailing punctuation dropped. The only
-- implementation: drivers ask SQL for it.
create or replace function recall._normalize_text(
    p_text text
)
returns text
language sql
immutable
parallel safe
return regexp_replace(
    btrim(regexp_replace(
        lower(normalize(p_text, nfkc) collate pg_c_utf8), '\s+', ' ', 'g')),
    '[[:space:].,;:!?…。、！？]+$', '');

comment on function recall._normalize_text(text) is
    'NFKC, lower case (pg_c_utf8), single spaces, no trailing punctuation.';
