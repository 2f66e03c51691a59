-- Group a user's mergeable memories by tag and kind.
-- fresh: memories that no merge job of the tag contained, oldest first; seen: the others, latest
-- first. Memories that a person took out of a merge are excluded, and results of merges count as
-- seen. Only sets with a fresh memory are returned.
-- Cost    one scan of the user's active memories; the audit of those in large sets.
create or replace function recall._merge_sets(
    p_user_id  uuid,
    p_now      timestamptz,
    p_settings recall.settings
)
returns table (
    tag   text,
    kind  text,
    fresh uuid[],
    seen  uuid[]
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
begin
    return query
    with candidates as materialized (
        select t.label, m.kind, m.memory_id, m.created_at, m.content_hash,
               m.source = 'consolidation' as is_result
          from recall.memory_store as m
         cross join lateral (select distinct u.label from unnest(m.tags) as u (label)) as t
         where m.user_id = p_user_id
           and m.ended_at is null
           and m.tags <> '{}'
           and recall._is_mergeable(row(m.*), p_now)
    ), members as materialized (
        select c.label, c.kind, c.memory_id, c.created_at,
               not c.is_result and not exists (
                   select from recall.memory_events as e
                    where e.user_id   = p_user_id
                      and e.memory_id = c.memory_id
                      and e.event     = 'proposed'
                      and e.detail @> jsonb_build_object('for', 'merge',
                                                         'tags', jsonb_build_array(c.label)))
                   as is_fresh,
               exists (
                   select from recall.memory_store as p
                    where p.user_id       = p_user_id
                      and p.superseded_by = c.memory_id
                      and p.end_reason    = 'merged'
                      and p.content_hash  = c.content_hash) as is_restored
          from (
                select l.*, count(*) over (partition by l.label, l.kind) as how_many
                  from candidates as l
               ) as c
         where c.how_many > p_settings.merge_above
    )
    select s.label, s.kind,
           coalesce(array_agg(s.memory_id order by s.created_at, s.memory_id)
                        filter (where s.is_fresh), '{}'::uuid[]),
           coalesce(array_agg(s.memory_id order by s.created_at desc, s.memory_id)
                        filter (where not s.is_fresh), '{}'::uuid[])
      from members as s
     where not s.is_restored
     group by s.label, s.kind
    having bool_or(s.is_fresh)
     order by count(*) desc, s.kind, s.label;
end;
$function$;

comment on function recall._merge_sets(uuid, timestamptz, recall.settings) is
    'A user''s active memories by tag and kind where there are more than settings.merge_above.';
