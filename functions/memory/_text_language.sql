-- Return the language of a text, as the dictionaries of PostgreSQL name it.
-- Its word for the user tells it, else its stop words. English when it has none, cjk for Chinese,
-- Japanese and Korean, whose words have no stems.
create or replace function recall._text_language(
    p_text text
)
returns text
language sql
immutable
parallel safe
return case
    when p_text collate pg_c_utf8 ~ '[ぁ-ヿ一-鿿가-힣]' then 'cjk'
    when p_text collate pg_c_utf8 ~ '[а-яё]' then 'russian'
    when p_text collate pg_c_utf8 ~* '\m(be)?nutzer(in)?s?\M' then 'german'
    when p_text collate pg_c_utf8 ~* '\mutilisat(eur|rice)\M' then 'french'
    when p_text collate pg_c_utf8 ~* '\musuari[oa]\M' then 'spanish'
    when p_text collate pg_c_utf8 ~* '\mutente\M' then 'italian'
    when p_text collate pg_c_utf8 ~* '\m(usuári[oa]|utilizador)\M' then 'portuguese'
    when p_text collate pg_c_utf8 ~* '\mgebruiker\M' then 'dutch'
    else coalesce((
        select l.language
          from unnest('{english,german,french,spanish,italian,portuguese,dutch}'::text[])
               with ordinality as l (language, place)
         cross join lateral (
                select count(*) filter (
                           where ts_lexize((l.language || '_stem')::regdictionary, w.word) = '{}')
                       as stop_words
                  from regexp_split_to_table(lower(p_text collate pg_c_utf8), '[^[:alpha:]]+')
                       as w (word)
               ) as n
         order by n.stop_words desc, l.place asc
         limit 1), 'english')
end;

comment on function recall._text_language(text) is
    'Language of a text by its word for the user or its stop words: english, …, russian, or cjk.';
