-- Return the form in which two texts count as equal.
-- Unicode NFKC, no invisible characters, case folded, white space collapsed, trailing punctuation
-- dropped. pgrecall.encryption has the same rules for encrypted users. Each replacement costs 1 µs,
-- so the pattern skips single spaces, and text of one byte a character skips NFKC.
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
                   else regexp_replace(normalize(p_text collate pg_c_utf8, nfkc),
                                       '[' || recall._invisible() || ']', '', 'g')
              end collate pg_c_utf8),
        '\s{2,}|[^\S ]', ' ', 'g')),
    '[[:space:].,;:!?…。、！？]+$', '');

comment on function recall._normalize_text(text) is
    'NFKC without invisible characters, lower case (pg_c_utf8), single spaces, no trailing '
    'punctuation.';
