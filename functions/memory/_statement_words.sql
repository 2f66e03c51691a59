-- Fold a text for the comparison with a quotation: NFKC, "don't" as "do not", no punctuation.
-- Letters of scripts without spaces become words of their own. Case stays.
create or replace function recall._statement_words(
    p_text text
)
returns text
language sql
immutable
parallel safe
return btrim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    translate(normalize(p_text, nfkc), '’‘ʼ', '''''''') collate pg_c_utf8,
    '\mcan(''|no)t\M', 'can not', 'gi'),
    '\mwon''t\M', 'will not', 'gi'),
    'n''t\M', ' not', 'gi'),
    '([一-鿿぀-ヿ])', ' \1 ', 'g'),
    '[^[:alnum:]ー]+', ' ', 'g'));

comment on function recall._statement_words(text) is
    'The words of a text, one space between them, to compare quotations.';
