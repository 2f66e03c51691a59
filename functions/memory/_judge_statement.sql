-- Judge what a user's message proves about a memory's text, by the words that a model quotes.
-- The whole sentence around them counts, since a quotation can omit its "not". False acceptance is
-- the worse error, so quotations, questions, suppositions and text about other people prove
-- nothing. Neither does a sentence without a first person of a supported language.
create or replace function recall._judge_statement(
    p_words   text,
    p_content text,
    p_said    text
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_self     constant text := ' (i|my|mine|we|our|ich|mein|meine|meinen|meinem|meiner|mir'
        '|mich|wir'
        '|unser|unsere|je|j|mon|ma|mes|moi|nous|notre|yo|mi|mis|soy|estoy|tengo|vivo'
        '|trabajo|uso|io'
        '|mio|mia|sono|ho|abito|lavoro|eu|meu|minha|sou|tenho|moro|trabalho|ik|mijn|mij|wij'
        '|onze|я'
        '|мой|моя|мне|меня|мы|我|私|僕|俺|나는|저는|제|내|제가|내가) ';
    v_doubtful constant text := ' (if|whether|suppose|supposing|imagine|pretend|assume|assuming'
        '|maybe|perhaps|might|could|would|should|probably|example|story|character|joke|wish'
        '|unless'
        '|wenn|falls|ob|vielleicht|würde|könnte|hätte|wäre|angenommen|beispiel|si|quizás|quizá'
        '|podría|ojalá|supongamos|ejemplo|peut|supposons|exemple|forse|magari|supponiamo|talvez'
        '|suponha|misschien|stel|если|может|возможно|만약|아마) |如 果|也 许|可 能|假 如|も し|か も';
    v_reports  constant text := ' (say|says|said|saying|tell|tells|told|write|writes|wrote'
        '|written|read'
        '|reads|claim|claims|claimed|quote|quotes|translate|summarize|according|called|mean'
        '|means|sagt'
        '|sagte|sagen|schreibt|schrieb|steht|laut|übersetze|bedeutet|dice|dijo|dicen'
        '|escribe|escribió'
        '|según|traduce|significa|dit|écrit|selon|traduis|signifie|detto|scrive|secondo'
        '|traduci|diz'
        '|disse|escreve|segundo|traduza|zegt|zei|schreef|volgens|vertaal|говорит|сказал|пишет)'
        '(?= )|[说說写寫言書]|翻 译';
    v_others   constant text := ' (he|she|sister|brother|mother|father|mom|mum|dad|wife'
        '|husband|son'
        '|daughter|friend|boss|colleague|partner|kid|child|children|parents|girlfriend|boyfriend'
        '|neighbor|er|schwester|bruder|mutter|vater|frau|mann|sohn|tochter|freund|freundin|chef'
        '|kollege|hermana|hermano|madre|padre|esposa|marido|hijo|hija|amigo|amiga|él|ella'
        '|sœur|frère'
        '|mère|père|femme|mari|fils|fille|ami|amie|elle|sorella|fratello|moglie|marito'
        '|figlio|figlia'
        '|amico|irmã|irmão|mãe|pai|filho|filha|zus|broer|moeder|vader|vrouw|vriend|сестра'
        '|брат|мать'
        '|отец|жена|муж|друг)(?= )|[姐妹哥弟妈爸母父他她彼]';
    v_answers  constant text := '^\s*(no|nope|nein|non|não|нет|nee)\s*,';
    v_but      constant text := ' (but|aber|sondern|pero|sino|maar|но) ';
    v_words    constant text := lower(recall._statement_words(p_words) collate pg_c_utf8);
    v_content  constant text :=
        ' ' || lower(recall._statement_words(p_content) collate pg_c_utf8) || ' ';
    v_sentence text;
    v_clause   text;
    v_whole    text;
    v_found    text;
begin
    -- Comparing words pairwise takes minutes for long texts, so they prove nothing. A memory is one
    -- statement, and a long message mostly holds text that the user passes on.
    if num_nulls(p_words, p_content, p_said) > 0
       or length(v_words) < 4 or greatest(length(v_words), length(v_content)) > 1000
       or length(p_said) > 20000 then
        return null;
    end if;
    foreach v_sentence in array string_to_array(regexp_replace(
        recall._unquoted_text(p_said), '([.!?]+)(\s+|$)|([。！？])|[;\n]', '\1\3' || chr(1), 'g'),
        chr(1))
    loop
        -- The "No," of "No, I live in Lyon" denies another statement.
        v_sentence := regexp_replace(v_sentence, v_answers, '', 'i');
        v_found    := ' ' || lower(recall._statement_words(v_sentence) collate pg_c_utf8) || ' ';
        continue when strpos(v_found, ' ' || v_words || ' ') = 0;
        v_whole := v_found;
        -- If one side of a "but" has the whole quotation, judge that side alone.
        foreach v_clause in array regexp_split_to_array(v_found, v_but)
        loop
            if strpos(' ' || btrim(v_clause) || ' ', ' ' || v_words || ' ') > 0 then
                v_found := ' ' || btrim(v_clause) || ' ';
            end if;
        end loop;
        if v_sentence ~ '[?？¿]' or v_found !~ v_self or v_whole ~ v_doubtful
           or exists (
               select
                 from (select m.word from regexp_matches(v_whole, v_reports, 'g') as r (groups)
                        cross join unnest(r.groups) as m (word)
                       union all
                       select m.word from regexp_matches(v_found, v_others, 'g') as r (groups)
                        cross join unnest(r.groups) as m (word)) as f
                where f.word is null or strpos(v_content, ' ' || f.word || ' ') = 0)
           or not recall._covers_content(p_content, v_words) then
            return null;
        end if;
        return case recall._statement_polarity(btrim(v_found))
                    * recall._statement_polarity(btrim(v_content))
                   when 1 then 'states' when -1 then 'denies' end;
    end loop;
    return null;
end;
$function$;

comment on function recall._judge_statement(text, text, text) is
    'Return whether a message of the user states a memory''s text, denies it, or neither (NULL).';
