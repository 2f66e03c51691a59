-- Judge by words whether a merged text states what its parts state.
-- Faithful: every word is accounted for, in order. Unfaithful: a number or name is lost or new.
-- Also unfaithful: all words are kept, but a meaning (not) has changed or words of two parts are
-- exchanged. Otherwise unsure, and a model decides. Ciphertexts are unsure here: the worker has
-- compared their plaintexts by words.
create or replace function recall._judge_merge(
    p_parts  text[],
    p_merged text,
    out o_verdict text,
    out o_words   text[]
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_signs      constant jsonb  := jsonb '{"lost": "-", "added": "+", "turned": "~",
                                            "person": "@"}';
    v_firm       constant text[] := string_to_array(
        'not only except maybe if some often rarely least almost than too cause', ' ');
    v_is_certain boolean;
begin
    o_words := '{}'::text[];
    -- 20,000 characters take 270 ms, twice as many a second: beyond that a model decides alone.
    if recall._is_sealed(p_merged)
       or length(p_merged) + length(array_to_string(p_parts, '')) > 20000 then
        o_verdict := 'unsure';
    elsif p_merged collate pg_c_utf8 !~ '[[:alnum:]]' then
        o_verdict := 'unfaithful';
    else
        select coalesce(array_agg(coalesce(v_signs ->> d.doubt, '?') || d.form
                                  order by d.doubt, d.form collate "C"),
                        '{}'::text[]),
               -- "three times" may sum up three parts
               bool_or(d.doubt in ('lost', 'added') and d.kind in ('number', 'name')
                       and (d.doubt, d.form) <> ('added', cardinality(p_parts)::text))
               or bool_or(d.doubt = 'exchanged' or d.kind = 'meaning' and d.form = any (v_firm))
                  and not bool_or(d.doubt in ('lost', 'added') and d.kind = 'word')
          into o_words, v_is_certain
          from recall._merge_doubts(p_parts, p_merged) as d;
        o_verdict := case when v_is_certain then 'unfaithful'
                          when o_words = '{}' then 'faithful' else 'unsure' end;
    end if;
end;
$function$;

comment on function recall._judge_merge(text[], text) is
    'Whether a merged text states what its parts state, by words: faithful, unfaithful or unsure.';
