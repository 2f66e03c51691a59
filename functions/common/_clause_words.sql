-- Split a clause into words in the spelling of recall.verbatim_phrases.
-- Each character of a script without spaces between words is one word. Character classes are code
-- points, not \w: database locales and Python's `re` would differ.
create or replace function recall._clause_words(
    p_clause text
)
returns text[]
language sql
immutable
parallel safe
return array_remove(string_to_array(
    btrim(regexp_replace(regexp_replace(regexp_replace(
        p_clause,
        '[\u0001-\u0026\u0028-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-'
        '\u00b9\u00bb-\u00bf\u1680\u2000-\u2bff\u3000-\u3004\u3008-\u3020\ufe00-\ufe4f\U0001f000-'
        '\U0001faff]+', ' ', 'g'),
        '([\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])',
        ' \1 ', 'g'),
        '(?:^| )[ '']+|[ '']+(?= |$)', ' ', 'g')),
    ' '), '');

comment on function recall._clause_words(text) is
    'Words of a clause in lower case; each character of an unspaced script is one.';
