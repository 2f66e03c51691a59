-- List defects in the hash chain of a user's events. event_missing: numbers are missing.
-- event_inserted: the chain continues without it. event_moved: it follows another event.
-- event_changed: it follows none, so it or its predecessor was edited.
-- The search for a predecessor scans the events; after twenty searches the rest is event_changed.
-- The hash of a tombstone is trusted if an event forgotten lists it.
create or replace function recall._check_events(
    p_user_id uuid
)
returns table (
    finding   text,
    event_no  bigint,
    memory_id uuid,
    detail    text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return query
    with links as (
        select row(e.*)::recall.memory_events as e, e.event_no, e.event_hash,
               lag(e.event_no, 1, 0::bigint) over w as no_before,
               lag(e.event_hash, 1, ''::bytea) over w as hash_before,
               lag(e.event_hash, 2, ''::bytea) over w as hash_before_that
          from recall.memory_events as e
         where e.user_id = p_user_id
        window w as (order by e.event_no, e.event_hash)
    ), followed as (
        select l.*,
               l.event_no > l.no_before + 1
                   or l.event_hash = recall._event_hash(l.hash_before, l.e) as is_linked
          from links as l
    ), skipped as (
        select f.*,
               not f.is_linked
                   and f.event_hash = recall._event_hash(f.hash_before_that, f.e) as is_skipping
          from followed as f
    ), judged as (
        select s.*,
               coalesce(lead(s.is_skipping) over (order by s.event_no, s.event_hash), false)
                   as is_skipped
          from skipped as s
    ), broken as (
        select j.*, row_number() over (order by j.event_no, j.event_hash) as place
          from judged as j
         where j.is_skipped
            or not j.is_linked and not j.is_skipping
            or j.event_no > j.no_before + 1
    )
    select v.finding, v.event_no, v.memory_id, v.detail
      from broken as b
     cross join lateral (
            select case when not b.is_linked and b.place <= 20
                        then (select e.event_no
                                from recall.memory_events as e
                               where e.user_id = p_user_id
                                 and recall._event_hash(e.event_hash, b.e) = b.event_hash
                               limit 1) end
           ) as p (followed)
     cross join lateral (
            values (case when b.event_no > b.no_before + 1 then 'event_missing' end,
                    b.no_before + 1, null::uuid,
                    format('events %s to %s are gone', b.no_before + 1, b.event_no - 1)),
                   (case when p.followed is not null then 'event_moved'
                         when b.is_skipped then 'event_inserted'
                         when not b.is_linked then 'event_changed' end,
                    b.event_no, (b.e).memory_id,
                    case when p.followed is not null
                             then format('it follows event %s', p.followed)
                         when b.is_skipped then 'the chain goes on without it'
                         else format('it does not follow from event %s', b.no_before) end)
           ) as v (finding, event_no, memory_id, detail)
     where v.finding is not null;

    return query
    select 'event_missing', lower(r.part), null::uuid,
           format('what events %s to %s said is gone, and no event says that it was forgotten',
                  lower(r.part), upper(r.part) - 1)
      from (
            select coalesce(range_agg(int8range(e.event_no, e.event_no, '[]'))
                                filter (where e.event = 'tombstone'), '{}')
                   - coalesce(range_agg((e.detail ->> 'events')::int8multirange)
                                filter (where e.event = 'forgotten' and pg_input_is_valid(
                                            e.detail ->> 'events', 'int8multirange')), '{}')
                       as ranges
              from recall.memory_events as e
             where e.user_id = p_user_id
               and e.event in ('tombstone', 'forgotten')
           ) as u
     cross join lateral unnest(u.ranges) as r (part);
end;
$function$;

comment on function recall._check_events(uuid) is
    'Defects in the hash chain of a user''s events: missing, inserted, moved and changed ones.';
