-- Split a text into the parts of its statements: numbers, names, meanings and other words.
-- Comparisons use the form: the digits of "two", a stem, or a meaning such as not. Punctuation or a
-- "but" ends a clause. Function words are left out. p_words is recall._language_words(p_language).
create or replace function recall._fact_words(
    p_text     text,
    p_language text,
    p_words    jsonb
)
returns table (
    place  integer,
    clause integer,
    kind   text,
    form   text
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_users    constant text[] := string_to_array(
        'i ich je yo io eu я user users nutzer nutzers nutzerin benutzer utilisateur utilisatrice '
        'usuario usuaria utente usuário usuária utilizador gebruiker '
        'пользователь пользователя пользователю', ' ');
    -- between words, and between a number and its unit
    v_gaps     constant text := '[\s/,"“”«»()（）「」『』、，\[\]–—_&-]+'
                                '|(?<=\d)(?=[[:alpha:]€$£%])|(?<=[€$£])(?=\d)';
    v_numbers  constant jsonb := p_words -> 'numbers';
    v_past     constant text := case p_language
                                    when 'english' then 'ed$'
                                    when 'german' then '[^st]te(n|st)?$'
                                    when 'french' then '(ait|aient)$'
                                    when 'spanish' then '(aba|aban|ía|ían)$'
                                    when 'italian' then '(av|ev|iv)(a|ano)$'
                                    when 'portuguese' then '(ava|avam|ia|iam)$'
                                    when 'russian' then '(л|ла|ли)$'
                                    else '^$' end;
    v_meanings constant jsonb := p_words -> 'meanings';
    v_synonyms constant jsonb := p_words -> 'synonyms';
    -- stop words of the dictionary that express a location
    v_places   constant text[] := string_to_array(
        'against between above below up down out off under over again own other any both into '
        'through most same further during gegen zwischen über unter contre entre contra contro tra '
        'tegen tussen между под над', ' ');
    v_stemmer  constant regdictionary := (case when p_language = 'cjk' then 'simple'
                                               else p_language || '_stem' end)::regdictionary;
    v_raw      text collate pg_c_utf8;
    v_word     text collate pg_c_utf8;
    v_stems    text[];
    v_form     text;
    v_meaning  text;
    v_is_first boolean := true;
begin
    place  := 0;
    clause := 1;
    foreach v_raw in array regexp_split_to_array(
        recall._plain_statement(p_text, p_language), v_gaps) loop
        v_word := lower(btrim(v_raw, '''-–…*'));
        if v_word = '.' or v_meanings -> v_word = '["but"]' then
            clause     := clause + 1;
            v_is_first := v_word = '.';
            continue;
        end if;
        continue when v_word !~ '[[:alnum:]€$£¥%]';

        place   := place + 1;
        v_stems := ts_lexize(v_stemmer, v_word);
        v_form  := coalesce(v_synonyms ->> v_word, v_stems[1], v_word);
        if v_word = any (v_users) then
            kind := 'user';
            form := 'user';
            return next;
        elsif v_word ~ '\d' or v_numbers ? v_word then
            kind := 'number';
            form := coalesce(v_numbers ->> v_word, v_word);
            return next;
        elsif v_word like '#%' then
            kind := 'meaning';
            form := substr(v_word, 2);
            return next;
        elsif v_meanings ? v_word and (v_is_first or v_raw = v_word or p_language = 'german') then
            for v_meaning in select jsonb_array_elements_text(v_meanings -> v_word) loop
                kind := case v_meaning when 'person' then 'person' else 'meaning' end;
                form := case v_meaning when 'person' then v_form else v_meaning end;
                return next;
            end loop;
        elsif v_raw ~ '[[:upper:]]'
              and (p_language <> 'german' and not v_is_first or v_raw ~ '.[[:upper:]]') then
            kind := 'name';
            form := coalesce(v_synonyms ->> v_word, v_word);
            return next;
        elsif v_stems is distinct from '{}' or v_word = any (v_places) then
            kind := 'word';
            form := v_form;
            if form <> '' then
                return next;
            end if;
            if v_word ~ v_past and not v_synonyms ? v_word then
                kind := 'meaning';
                form := 'past';
                return next;
            end if;
        end if;
        v_is_first := false;
    end loop;
end;
$function$;

comment on function recall._fact_words(text, text, jsonb) is
    'Numbers, names, meanings and other words of a text, by position and clause.';
