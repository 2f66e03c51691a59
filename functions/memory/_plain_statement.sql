-- Normalize the spelling of a text for the comparison of statements.
-- "don't" becomes "do not", l'eau two words, 1,200 the number 1200, and common phrases one form.
-- Each sign that ends a clause becomes a word of its own.
create or replace function recall._plain_statement(
    p_text     text,
    p_language text
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- "works as a nurse" is "is a nurse", "a dog called Rex" is "a dog, Rex"
    v_says_is  constant text := '\m(works? as|working as|by profession'
                                '|arbeitet als|von Beruf|leidet (unter|an)|travaille comme'
                                '|souffre d[e'']|trabaja como|trabalha como|sofre de|sufre de'
                                '|lavora come|soffre di|fa (il|la|lo)|работает)\M'
                                '|(?<!user )\m(called|named)\M';
    -- cheap test whether a text can contain one of the phrases below
    v_hints    constant text := 's home is|fear|suffer|would|work|called|named|profession|Beruf'
                                '|arbeitet|leidet|travaille|souffre|trabaja|trabalha|sofre|sufre'
                                '|lavora|soffre|\mfa\M|работает';
    v_text     text collate pg_c_utf8 := recall._written_out(
        translate(normalize(p_text, nfkc), '’‘ʼ', ''''''''));
    v_is_rich  constant boolean := v_text ~* v_hints;
    v_hour     text;
begin
    if v_is_rich then
        v_text := regexp_replace(v_text, '''s home is\M', ' lives', 'gi');
        v_text := regexp_replace(v_text, '\m(has|have|with) a fear of\M', 'is afraid of', 'gi');
        v_text := regexp_replace(v_text, '\msuffers? from\M', 'has', 'gi');
    end if;
    if strpos(v_text, '''') > 0 then
        v_text := regexp_replace(v_text, '''s\M|''(?=\s|$)', ' s ', 'g');
        v_text := regexp_replace(v_text, '\m([[:alpha:]]{1,5})''(?=[[:alnum:]])', '\1 ', 'g');
    end if;
    if v_is_rich then
        v_text := regexp_replace(v_text, '\mwould like to\M', 'wants to', 'gi');
        v_text := regexp_replace(v_text, v_says_is, ' ', 'gi');
    end if;
    if v_text ~ '\d' then
        for v_hour in
            select distinct f.hour[1]
              from regexp_matches(v_text, '\m([1-9]|1[01])(?::\d\d)? ?p\.?m\M', 'gi') as f (hour)
        loop
            v_text := regexp_replace(v_text, format('\m%s(:\d\d)? ?p\.?m\M', v_hour),
                                     (v_hour::integer + 12) || '\1', 'gi');
        end loop;
        v_text := regexp_replace(v_text, '\m(\d\d?):00\M', '\1', 'g');
        v_text := regexp_replace(v_text, '(\d)[,.  ](\d{3})(?!\d)', '\1\2', 'g');
    end if;
    if p_language = 'cjk' then
        v_text := recall._spaced_signs(v_text);
    end if;
    v_text := regexp_replace(v_text, '([.!?;:。]+)(\s|$)', ' . ', 'g');
    return v_text;
end;
$function$;

comment on function recall._plain_statement(text, text) is
    'A text in the form that statements are compared in: no contractions, thousands separators or '
    'synonyms of "is".';
