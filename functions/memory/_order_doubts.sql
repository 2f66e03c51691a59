-- List what speaks against a merged text in the order of its words.
-- A name must stay beside the words of its part: "lives in Porto" and "works in Lyon" are not
-- "lives in Lyon and works in Porto".
--   exchanged   words of one part between those of another that has no word in common with it
--   mixed       the same for parts with a word in common: "Ann, a nurse, lives in Nice"
--   paired      a name, number or person beside the words of a part that does not have it
--   moved       a word that comes earlier than in its part
create or replace function recall._order_doubts(
    p_words recall.statement_word[],
    p_same  recall.shared_word[]
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
begin
    return query
    with same as materialized (
        select s.*
          from unnest(p_same) as s
         where s.kind <> 'meaning' or s.form = 'like'
    ), owned as materialized (
        -- words of the text that exactly one part has
        select s.place, s.clause, min(s.form) as form, min(s.ordinal) as ordinal
          from same as s
         where s.kind not in ('user', 'meaning')
         group by s.place, s.clause
        having count(distinct s.ordinal) = 1
    ), runs as (
        select w.form, w.ordinal,
               w.ordinal is distinct from lag(w.ordinal) over (order by w.place) as is_start,
               w.ordinal in (
                   select o.ordinal
                     from unnest(p_words) as o
                     join unnest(p_words) as x
                       on x.ordinal > 0 and x.ordinal <> o.ordinal and x.kind = o.kind
                          and x.form = o.form
                    where o.kind not in ('user', 'meaning')) as is_linked
          from owned as w
    ), placed as (
        select s.ordinal, s.kind, s.form, s.said_at, min(s.place) as place
          from same as s
         group by s.ordinal, s.kind, s.form, s.said_at
    ), ordered as (
        select p.ordinal, p.kind, p.form,
               p.place < lag(p.place) over (partition by p.ordinal order by p.said_at) as is_back
          from placed as p
    )
    select case when bool_or(r.is_linked) then 'mixed' else 'exchanged' end, 'word', min(r.form)
      from runs as r
    having count(*) filter (where r.is_start) > count(distinct r.ordinal)
     union all
    select distinct 'paired', e.kind, e.form
      from unnest(p_words) as e
     cross join lateral (
            -- the nearest word that only one part has; a word of its own part wins a tie
            select exists (
                       select from same as s
                        where s.place = e.place and s.ordinal = w.ordinal) as is_own
              from owned as w
             where w.clause = e.clause and w.place <> e.place
             order by abs(w.place - e.place) asc, is_own desc
             limit 1
           ) as near
     where e.ordinal = 0
       and e.kind in ('name', 'number', 'person')
       and exists (select from same as s where s.place = e.place)
       and not near.is_own
     union all
    select distinct 'moved', d.kind, d.form
      from ordered as d
     where d.is_back;
end;
$function$;

comment on function recall._order_doubts(recall.statement_word[], recall.shared_word[]) is
    'List the doubts about a merged text that come from the order of its words.';
