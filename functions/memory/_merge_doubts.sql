-- List what speaks against a merged text. No row: it says what its parts say, word for word.
--   lost, added   a number, name, meaning or word that only the parts, or only the text, have
--   turned        a word that stood beside a negation and does not any more, or the reverse
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
set search_path from current
as $function$
declare
    v_language constant text := recall._text_language(
        array_to_string(p_parts || p_merged, E'.\n'));
    -- where a negation stands before the words that it denies
    v_is_ahead constant boolean := v_language not in ('german', 'dutch', 'cjk');
begin
    return query
    with words as materialized (
        select w.* from recall._merge_words(p_parts, p_merged, v_language) as w
    ), said as (
        select w.* from words as w where w.ordinal > 0
    ), same as materialized (
        select o.ordinal, o.place as said_at, o.kind, o.form, s.place, s.form as says_form,
               -- a negation reaches the words behind it, or the clause: "eats neither meat"
               (o.negated_from is null) = (s.negated_from is null)
               or v_is_ahead and coalesce(o.negated_from < o.place, false)
                                 = coalesce(s.negated_from < s.place, false) as is_kept
          from said as o
          join words as s
            on s.ordinal = 0 and recall._is_same_form(o.form, s.form, o.kind, s.kind)
    )
    select distinct 'lost', o.kind, o.form
      from said as o
     where o.kind <> 'user'
       and not exists (
               select from same as s
                where s.ordinal = o.ordinal and s.said_at = o.place and s.form = o.form)
     union all
    select distinct 'added', s.kind, s.form
      from words as s
     where s.ordinal = 0
       and s.kind <> 'user'
       and not exists (select from same as o where o.place = s.place and o.says_form = s.form)
     union all
    select distinct 'turned', s.kind, s.form
      from same as s
     where s.kind in ('number', 'name', 'word')
     group by s.ordinal, s.said_at, s.kind, s.form
    having not bool_or(s.is_kept)
     union all
    select 'person', o.kind, o.form
      from said as o
     where o.kind = 'person'
     group by o.kind, o.form
    having count(distinct o.ordinal) < cardinality(p_parts)
     union all
    select * from recall._order_doubts(p_parts, p_merged, v_language);
end;
$function$;

comment on function recall._merge_doubts(text[], text) is
    'What speaks against a merged text: words it lost, added, turned, exchanged or moved.';
