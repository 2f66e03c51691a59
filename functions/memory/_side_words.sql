-- Return what distinguishes texts besides the words of their statements.
-- These are signs, most function words, and "own" where a verb of possession occurs: "has a coach"
-- and "is a coach" differ by nothing else. p_words is recall._language_words(p_language).
create or replace function recall._side_words(
    p_text     text,
    p_language text,
    p_words    jsonb
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_stemmer  constant regdictionary := (case when p_language = 'cjk' then 'simple'
                                               else p_language || '_stem' end)::regdictionary;
    v_meanings constant jsonb := p_words -> 'meanings';
    v_owns     constant text := '\m(has|have|having|owns?|s|tiene|ha|tem|hat|haben|heeft|del'
                                '|da|do|dell|vom|leidet|у|есть|имеет)\M';
    -- articles, auxiliaries, possessives, "in"
    v_neutral  constant text :=
        '^(an?|the|is|are|am|be|been|being|do|does|did|has|have|having|it|its|and|of|i|my|their|his'
        '|her|that|this|as|in|s|der|die|das|den|dem|des|eine?[mnrs]?|ist|sind|bin|hat|haben|und'
        '|seine?[mnrs]?|ihre?[mnrs]?|sich|als|im|le|la|les|l|une?|est|sont|à|a|de|du|d|en|et|son|sa'
        '|ses|el|los|las|una?|es|está|y|su|sus|del|il|lo|gli|è|ha|e|di|suo|sua|uno|os?|as|uma?|é'
        '|tem|em|seu|do|da|het|een|zijn|haar|van|heeft|в|и|у|есть)$';
    -- emoticons, comparisons, a sign before a number, c++
    v_signs    constant text := '[:;=8][-^]?[][(){}|dpo](?![[:alnum:]])|[<>=≤≥]'
                                '|(?<![[:alnum:]])[-+](?=\d)|[+#]+';
    v_text     text collate pg_c_utf8 := lower(p_text collate pg_c_utf8);
    v_plain    text collate pg_c_utf8 := lower(recall._plain_statement(p_text, p_language)
                                               collate pg_c_utf8);
begin
    return array(
        select w.word
          from (
                select f.word[1] as word
                  from regexp_matches(v_plain, '([[:alpha:]]+)', 'g') as f (word)
                 where ts_lexize(v_stemmer, f.word[1]) = '{}'
                   and f.word[1] !~ v_neutral
                   and not v_meanings ? f.word[1]
                union
                select s.sign[1]
                  from regexp_matches(v_text, '(' || v_signs || ')', 'g') as s (sign)
                union
                select 'own' where v_plain ~ v_owns
               ) as w
         order by w.word collate "C");
end;
$function$;

comment on function recall._side_words(text, text, jsonb) is
    'Signs and function words of a text that its statements do not have, in order.';
