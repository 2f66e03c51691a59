-- Classify a clause as statement, question, request, courtesy or remark.
-- Skip fillers at the beginning. The longest phrase at the beginning decides, else the one at the
-- end. Without either, a clause about the text, the screen or the moment is a remark. A clause
-- about its author or something personal is a statement from two words on. A clause that addresses
-- the assistant is a remark, any other a statement from p_min_words on.
create or replace function recall._clause_kind(
    p_clause    text,
    p_min_words integer
)
returns text
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_words    text[] := recall._clause_words(p_clause);
    v_all      constant text[] := v_words;
    v_first    record;
    v_last     text;
    v_meanings text[];
begin
    loop
        v_first := recall._phrase_meaning(v_words, 'first');
        exit when v_first.o_meaning is distinct from 'filler';
        v_words := v_words[v_first.o_length + 1 :];
    end loop;
    if cardinality(v_words) < 2
       or exists (select from recall.verbatim_phrases as p
                   where p.place = 'whole' and p.phrase = array_to_string(v_words, ' ')) then
        return null;
    end if;
    if v_first.o_meaning in ('question', 'statement') then
        return v_first.o_meaning;
    end if;

    v_meanings := recall._clause_meanings(v_all);
    if v_first.o_meaning in ('courtesy', 'remark') then
        -- "that's for my wedding" is a statement, "that's for the title" is not
        return case when v_meanings @> '{personal,self}' and not v_meanings && '{material,you}'
                    then 'statement' else v_first.o_meaning end;
    end if;
    v_last := (recall._phrase_meaning(v_words, 'last')).o_meaning;
    if v_last = 'statement'
       or v_first.o_meaning is null
          and (v_last = 'courtesy' and not v_meanings && '{personal,always}'
               or v_last = 'remark' and not v_meanings @> '{personal,self}'
                  and not 'always' = any (v_meanings)) then
        return v_last;
    end if;
    return case
        when v_first.o_meaning = 'request' or v_last = 'request'
            then case when 'always' = any (v_meanings) then 'statement' else 'request' end
        when v_last = 'question' or 'question' = any (v_meanings) then 'question'
        when 'always' = any (v_meanings) then 'statement'
        when 'material' = any (v_meanings) and not v_meanings @> '{personal,self}' then 'remark'
        when v_meanings && '{self,personal}' then 'statement'
        when 'you' = any (v_meanings) then 'remark'
        when cardinality(v_words) >= p_min_words then 'statement'
    end;
end;
$function$;

comment on function recall._clause_kind(text, integer) is
    'Kind of a clause by its phrases: statement, question, request, courtesy or remark; NULL when '
    'it says nothing.';
