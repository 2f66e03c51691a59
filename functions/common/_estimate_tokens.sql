-- Estimate the tokens of a text on the safe side, for counts that were not given.
-- Plain words cost one token, plus one for every three letters beyond the first. English needs half
-- of that, but no cheap sign tells it from names of drugs or a foreign sentence inside of it.
-- All else costs one token per byte, which byte-pair encodings never exceed: digits, hex, capitals,
-- symbols, words over fourteen letters or with four consonants in a row. Spaces cost one per 16.
create or replace function recall._estimate_tokens(
    p_text text
)
returns integer
language plpgsql
immutable
strict
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_text    text collate pg_c_utf8 := translate(p_text, E'\x01', E'\x02');
    -- Mark words that are not plain with a digit, then plain words with a control character, and
    -- count. One pattern with lookahead would take four times as long.
    v_spoiled text collate pg_c_utf8 := regexp_replace(
        v_text, '\m(?:[a-z]*[bcdfghjklmnpqrstvwxz]{4}|[A-Za-z][a-z]{14})', '0\&', 'g');
    v_marked  text collate pg_c_utf8 := regexp_replace(
        v_spoiled, ' ?\m[A-Za-z][a-z]*\M', E'\x01', 'g');
    v_rest    text collate pg_c_utf8 := translate(v_marked, E'\x01', '');
    v_words   integer := length(v_marked) - length(v_rest);
    v_inside  integer := length(translate(v_spoiled, ' ', ''))
                         - length(translate(v_rest, ' ', '')) - v_words;
begin
    if strpos(v_rest, '  ') > 0 then
        v_rest := regexp_replace(v_rest, ' {1,16}', ' ', 'g');
    end if;
    return ceil(v_words + v_inside / 3.0)
           + octet_length(v_rest) - (length(v_spoiled) - length(v_text));
end;
$function$;

comment on function recall._estimate_tokens(text) is
    'Estimated tokens of a text, on the safe side (never below tiktoken''s count on our samples).';
