-- List the words that a text contains.
-- Searching for one word takes 0.8 ms per MB, and an expression of two dozen words 3 ms. If the
-- expression has no match, or the text lacks a character of a word, that word is not searched for.
create or replace function recall._words_in(
    p_text  text,
    p_words text[]
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return array(
        with words as (
            select u.word, row_number() over (order by length(u.word), u.word) / 24 as part
              from (select distinct s.word collate "C"
                      from unnest(recall._spelled_words(p_text, p_words)) as s (word)) as u (word)
        ), parts as materialized (
            select array_agg(w.word) as words
              from words as w
             group by w.part
            having p_text collate "C"
                   ~ string_agg(regexp_replace(w.word, '([^[:alnum:]])', '\\\1', 'g'), '|'))
        select u.word
          from parts as p
         cross join unnest(p.words) as u (word)
         where strpos(p_text collate "C", u.word) > 0);
end;
$function$;

comment on function recall._words_in(text, text[]) is 'The words that a text contains.';
