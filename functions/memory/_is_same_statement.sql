-- Tell whether two texts are one statement in other words: the same facts, in the same order.
-- Only a part of the sentence may have moved to its beginning: "On Mondays the user plays squash".
-- Any other order may exchange who does what: "Bob trusts the user", "prefers spaces over tabs".
-- Cost: 4 ms; 0.2 ms where the numbers differ, since many memories of a user may differ by nothing
-- else ("visit 17 was short").
create or replace function recall._is_same_statement(
    p_old text,
    p_new text
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_numbers  constant text[] := array(
        select n.number[1]
          from regexp_matches(recall._plain_statement(p_old, ''), '\d+', 'g') as n (number)
         order by 1);
    v_others   constant text[] := array(
        select n.number[1]
          from regexp_matches(recall._plain_statement(p_new, ''), '\d+', 'g') as n (number)
         order by 1);
    v_language text;
    v_is_same  boolean;
    v_places   integer[];
    v_falls    integer;
begin
    -- where only one has digits, the other may have the number as a word
    if v_numbers <> '{}' and v_others <> '{}' and v_numbers <> v_others then
        return false;
    end if;
    v_language := recall._text_language(p_old || E'.\n' || p_new);
    if recall._side_words(p_old, v_language) <> recall._side_words(p_new, v_language) then
        return false;
    end if;

    with words as materialized (
        select w.*, case when w.kind in ('name', 'person') then 'word'
                         when w.kind = 'meaning' then w.form else w.kind end as sort
          from recall._merge_words(array[p_old], p_new, v_language) as w
    ), same as materialized (
        select o.place, o.form, s.place as other_place, s.form as other_form,
               o.kind <> 'meaning' or o.form = 'like' as is_placed
          from words as o
          join words as s
            on s.ordinal = 0 and recall._is_same_form(o.form, s.form, o.kind, s.kind)
               and (o.negated_from is null) = (s.negated_from is null)
         where o.ordinal = 1
    )
    select -- both say the same number of things of each sort
           (select count(distinct b.sorts) = 1
              from (select array_agg(w.sort order by w.sort) as sorts
                      from words as w group by w.ordinal) as b)
           and not exists (
                   select from words as w
                    where not exists (
                              select from same as s
                               where (w.ordinal, w.place, w.form) = (1, s.place, s.form)
                                  or (w.ordinal, w.place, w.form)
                                     = (0, s.other_place, s.other_form))),
           -- where the words of one text stand in the other
           array(select min(s.other_place) from same as s where s.is_placed
                  group by s.place order by s.place)
      into v_is_same, v_places;
    select count(*)
      into v_falls
      from (
            select u.place, lag(u.place, 1, v_places[cardinality(v_places)])
                                over (order by u.ordinal) as previous
              from unnest(v_places) with ordinality as u (place, ordinal)
           ) as p
     where p.place < p.previous;
    return v_is_same and cardinality(v_places) > 1 and v_falls <= 1;
end;
$function$;

comment on function recall._is_same_statement(text, text) is
    'Whether two texts are one statement in other words.';
