-- List what speaks against a merged text; no row when it states the same as its parts.
--   lost, added   a number, name, meaning or word that only the parts, or only the text, have
--   turned        a word that gained or lost a negation
--   person        persons that only some parts are about
--   others        those of recall._order_doubts
create or replace function recall._merge_doubts(
    p_parts  text[],
    p_merged text
)
returns table (
    doubt text,
    kind  text,
    form  text
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_language constant text := recall._text_language(
        array_to_string(p_parts || p_merged, E'.\n'));
    -- languages in which a negation precedes the words that it denies
    v_is_ahead constant boolean := v_language not in ('german', 'dutch', 'cjk');
    v_words    constant recall.statement_word[] := recall._merge_words(p_parts, p_merged,
                                                                       v_language);
    v_same     constant recall.shared_word[]    := recall._shared_words(v_words,
                                                                        v_is_ahead);
begin
    return query
    select distinct 'lost', o.kind, o.form
      from unnest(v_words) as o
     where o.ordinal > 0
       and o.kind <> 'user'
       and not exists (
               select from unnest(v_same) as s
                where s.ordinal = o.ordinal and s.said_at = o.place and s.form = o.form)
     union all
    select distinct 'added', s.kind, s.form
      from unnest(v_words) as s
     where s.ordinal = 0
       and s.kind <> 'user'
       and not exists (
               select from unnest(v_same) as o
                where o.place = s.place and o.says_form = s.form)
     union all
    select distinct 'turned', s.kind, s.form
      from unnest(v_same) as s
     where s.kind in ('number', 'name', 'word')
     group by s.ordinal, s.said_at, s.kind, s.form
    having not bool_or(s.is_kept)
     union all
    select 'person', o.kind, o.form
      from unnest(v_words) as o
     where o.kind = 'person'
       and o.ordinal > 0
     group by o.kind, o.form
    having count(distinct o.ordinal) < cardinality(p_parts)
     union all
    select * from recall._order_doubts(v_words, v_same);
end;
$function$;

comment on function recall._merge_doubts(text[], text) is
    'List the doubts about a merged text: words it lost, added, turned, exchanged or moved.';
