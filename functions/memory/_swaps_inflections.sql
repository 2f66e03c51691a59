-- Tell whether two words with one stem stand in the other order in the other text.
-- "La hermana es mayor que su hermano" and "El hermano es mayor que su hermana" have equal stems in
-- equal order. A plural with "s" counts as the singular.
create or replace function recall._swaps_inflections(
    p_old      text,
    p_new      text,
    p_language text
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_stemmer constant regdictionary := (case when p_language = 'cjk' then 'simple'
                                              else p_language || '_stem' end)::regdictionary;
begin
    return exists (
        with spelled as (
            select t.ordinal, ts_lexize(v_stemmer, w.word[1]) as stem,
                   rtrim(w.word[1], 's') as word, min(w.place) as place
              from unnest(array[p_old, p_new]) with ordinality as t (content, ordinal)
             cross join regexp_matches(
                       lower(recall._plain_statement(t.content, p_language) collate pg_c_utf8),
                       '([[:alpha:]]+)', 'g') with ordinality as w (word, place)
             group by t.ordinal, ts_lexize(v_stemmer, w.word[1]), rtrim(w.word[1], 's')
        )
        select
          from spelled as a
          join spelled as b
            on (b.ordinal, b.stem) = (a.ordinal, a.stem) and b.place > a.place
          join spelled as c
            on (c.stem, c.word) = (b.stem, b.word) and c.ordinal > a.ordinal
          join spelled as d
            on (d.stem, d.word) = (a.stem, a.word) and d.ordinal = c.ordinal and d.place > c.place
         where a.stem <> '{}');
end;
$function$;

comment on function recall._swaps_inflections(text, text, text) is
    'Whether two words with one stem stand in the other order in the other text.';
