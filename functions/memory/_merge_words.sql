-- Return the words of a merged text (ordinal 0) and of its parts (1, 2, …), in one language.
-- negated_from is the place of the first negation in the clause.
create or replace function recall._merge_words(
    p_parts    text[],
    p_merged   text,
    p_language text
)
returns table (
    ordinal      integer,
    place        integer,
    clause       integer,
    kind         text,
    form         text,
    negated_from integer
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_words constant jsonb := recall._language_words(p_language);
begin
    return query
    select p.ordinal::integer - 1, w.place, w.clause, w.kind, w.form,
           min(w.place) filter (where w.form = 'not') over (partition by p.ordinal, w.clause)
      from unnest(array[p_merged] || p_parts) with ordinality as p (content, ordinal)
     cross join recall._fact_words(p.content, p_language, v_words) as w;
end;
$function$;

comment on function recall._merge_words(text[], text, text) is
    'Words of a merged text and of its parts, with the first negation of their clause.';
