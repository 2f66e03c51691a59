-- Return the words of a merged text (ordinal 0) and of its parts (1, 2, …) in one language.
create or replace function recall._merge_words(
    p_parts    text[],
    p_merged   text,
    p_language text
)
returns recall.statement_word[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_words constant jsonb := recall._language_words(p_language);
begin
    return array(
        select row(p.ordinal - 1, w.place, w.clause, w.kind, w.form,
                   min(w.place) filter (where w.form = 'not')
                       over (partition by p.ordinal, w.clause))::recall.statement_word
          from unnest(array[p_merged] || p_parts) with ordinality as p (content, ordinal)
         cross join recall._fact_words(p.content, p_language, v_words) as w);
end;
$function$;

comment on function recall._merge_words(text[], text, text) is
    'Words of a merged text and of its parts, with the first negation of their clause.';
