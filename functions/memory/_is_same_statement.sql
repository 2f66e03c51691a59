-- Tell whether two texts are one statement in other words: the same facts in the same order.
-- Only one part of the sentence may move to the front ("On Mondays the user plays squash"). Any
-- other order may exchange roles: "Bob trusts the user", "prefers spaces over tabs". So may the
-- place of "only", and two words with one stem: "La hermana es mayor que su hermano".
-- Cost: 0.2 ms. Two texts that differ in a number cost 5 µs: the guard returns before.
create or replace function recall._is_same_statement(
    p_old text,
    p_new text
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_language constant text := recall._text_language(p_old || E'.\n' || p_new);
    v_words    constant recall.statement_word[] := recall._merge_words(array[p_old], p_new,
                                                                       v_language);
    v_same     recall.shared_word[];
    v_lists    jsonb;
    v_places   integer[];
    v_falls    integer;
begin
    -- Both must have the same number of words of each sort. This rejects most pairs.
    if exists (
           select
             from (select case when w.kind in ('name', 'person') then 'word'
                               when w.kind = 'meaning' then w.form else w.kind end as sort,
                          w.ordinal
                     from unnest(v_words) as w) as k
            group by k.sort
           having count(*) filter (where k.ordinal = 0) <> count(*) filter (where k.ordinal = 1))
    then
        return false;
    end if;
    v_same := recall._shared_words(v_words, false);
    if exists (
           select
             from unnest(v_words) as w
            where not exists (
                      select from unnest(v_same) as s
                       where s.is_kept
                         and ((w.ordinal, w.place, w.form) = (1, s.said_at, s.form)
                              or (w.ordinal, w.place, w.form) = (0, s.place, s.says_form)))) then
        return false;
    end if;
    v_lists := recall._language_words(v_language);
    if recall._side_words(p_old, v_language, v_lists)
       <> recall._side_words(p_new, v_language, v_lists) then
        return false;
    end if;

    -- positions in one text of the words of the other
    v_places := array(
        select min(s.place)
          from unnest(v_same) as s
         where s.is_kept
           and (s.kind <> 'meaning' or s.form = 'like')
         group by s.said_at
         order by s.said_at);
    select count(*)
      into v_falls
      from (
            select u.place, lag(u.place, 1, v_places[cardinality(v_places)])
                                over (order by u.ordinal) as previous
              from unnest(v_places) with ordinality as u (place, ordinal)
           ) as p
     where p.place < p.previous;
    if cardinality(v_places) < 2 or v_falls > 1 then
        return false;
    end if;

    return not exists (
               -- an "only" before another word, or before none
               with limits as (
                   select o.ordinal,
                          (select min(w.place)
                             from unnest(v_words) as w
                            where w.ordinal = o.ordinal and w.place > o.place) as next
                     from unnest(v_words) as o
                    where (o.kind, o.form) = ('meaning', 'only')
               )
               select
                 from limits as o
                where o.ordinal = 1
                  and not exists (
                          select
                            from limits as n
                           where n.ordinal = 0
                             and (coalesce(o.next, n.next) is null
                                  -- the same word, by its number where the text repeats it
                                  or (select bool_or((s.said_at, s.place) = (o.next, n.next))
                                             and count(*) filter (where s.said_at < o.next)
                                                 = count(*) filter (where s.place < n.next)
                                        from unnest(v_same) as s
                                       where s.said_at = o.next and s.place <= n.next
                                          or s.place = n.next and s.said_at < o.next))))
           and not recall._swaps_inflections(p_old, p_new, v_language);
end;
$function$;

comment on function recall._is_same_statement(text, text) is
    'Whether two texts are one statement in other words.';
