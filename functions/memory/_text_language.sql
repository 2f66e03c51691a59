-- Return the language of a text by the name of its PostgreSQL dictionary.
-- The word for the user decides, else the most stop words. English without any; cjk for Chinese,
-- Japanese and Korean, whose words have no stems.
create or replace function recall._text_language(
    p_text text
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_text  text collate pg_c_utf8 := p_text;
    v_words text[]                 := regexp_split_to_array(lower(v_text), '[^[:alpha:]]+');
begin
    return case
        when v_text ~ '[ぁ-ヿ一-鿿가-힣]' then 'cjk'
        when v_text ~ '[а-яё]' then 'russian'
        when v_words && '{nutzer,nutzers,nutzerin,benutzer,benutzers,benutzerin}' then 'german'
        when v_words && '{utilisateur,utilisatrice}' then 'french'
        when v_words && '{usuario,usuaria}' then 'spanish'
        when v_words && '{utente}' then 'italian'
        when v_words && '{usuário,usuária,utilizador}' then 'portuguese'
        when v_words && '{gebruiker}' then 'dutch'
        else (
            select l.language
              from unnest('{english,german,french,spanish,italian,portuguese,dutch}'::text[],
                          '{english_stem,german_stem,french_stem,spanish_stem,italian_stem,'
                          'portuguese_stem,dutch_stem}'::regdictionary[])
                   with ordinality as l (language, stemmer, place)
             order by (select count(*)
                         from unnest(v_words) as w (word)
                        where ts_lexize(l.stemmer, w.word) = '{}') desc,
                      l.place asc
             limit 1)
    end;
end;
$function$;

comment on function recall._text_language(text) is
    'Language of a text by its word for the user or its stop words: english, …, russian, or cjk.';
