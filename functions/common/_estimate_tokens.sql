-- recall._estimate_tokens(text) -> tokens, on the safe side
-- For counts that were not given. A plain word costs one token and another for every three letters
-- beyond the first, in English for every twelve: there words are one token nearly always (of
-- 2,700 texts in English none has more, and they take 1.4 times their tokens instead of 2.1).
-- Anything else (digits, hex, capitals, symbols, words of more than fourteen letters or with four
-- consonants in a row) costs one per byte, since byte-pair encodings never need more; spaces cost
-- one per run of sixteen.
-- One pass spoils the words that are not plain with a digit, one marks the plain ones with a
-- control character, the rest is counting. (As one pattern, which looks ahead at each word and
-- bounds its length, it takes four times as long.)
create or replace function recall._estimate_tokens(
    p_text text
)
returns integer
language plpgsql
immutable
strict
parallel safe
set search_path from current
as $function$
declare
    v_text    text collate pg_c_utf8 := translate(p_text, E'\x01', E'\x02');
    v_spoiled text collate pg_c_utf8 := regexp_replace(
        v_text, '\m(?:[a-z]*[bcdfghjklmnpqrstvwxz]{4}|[A-Za-z][a-z]{14})', '0\&', 'g');
    v_marked  text collate pg_c_utf8 := regexp_replace(
        v_spoiled, ' ?\m[A-Za-z][a-z]*\M', E'\x01', 'g');
    v_rest    text collate pg_c_utf8 := translate(v_marked, E'\x01', '');
    v_words   integer := length(v_marked) - length(v_rest);
    v_inside  integer := length(translate(v_spoiled, ' ', ''))
                         - length(translate(v_rest, ' ', '')) - v_words;
    -- Small words of English that other languages do not have. The length of those found tells
    -- how many there are at a fifth of the time that a regular expression takes.
    v_english integer := length(v_text) - length(
        replace(replace(replace(replace(replace(replace(replace(replace(replace(
            v_text, ' the ', ' '), ' and ', ' '), ' of ', ' '), ' to ', ' '), ' with ', ' '),
            ' for ', ' '), ' has ', ' '), ' his ', ' '), ' her ', ' '));
begin
    if strpos(v_rest, '  ') > 0 then
        v_rest := regexp_replace(v_rest, ' {1,16}', ' ', 'g');
    end if;
    return ceil(v_words + v_inside / case when 4 * v_english >= v_words then 12.0 else 3.0 end)
           + octet_length(v_rest) - (length(v_spoiled) - length(v_text));
end;
$function$;

comment on function recall._estimate_tokens(text) is
    'Tokens of a text estimated on the safe side (never below tiktoken''s count on our samples).';
