-- recall._normalize_text(text) -> the form in which two texts are the same text
-- Unicode NFKC, case folded, white space collapsed, trailing punctuation dropped. The only
-- implementation: drivers ask SQL for it. Nothing is replaced that may stay, since each match costs
-- 1 µs: a single space, or a text of one byte a character, which is its own NFKC.
create or replace function recall._normalize_text(
    p_text text
)
returns text
language sql
immutable
parallel safe
return regexp_replace(
    btrim(regexp_replace(
        lower(case when octet_length(p_text) = length(p_text) then p_text
                   else normalize(p_text, nfkc) end collate pg_c_utf8),
        '\s{2,}|[^\S ]', ' ', 'g')),
    '[[:space:].,;:!?…。、！？]+$', '');

comment on function recall._normalize_text(text) is
    'NFKC, lower case (pg_c_utf8), single spaces, no trailing punctuation.';
