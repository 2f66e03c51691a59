-- recall._episode_links(user, episodes, settings) -> a bit string an episode: 1 where similar
-- Bit k of string i says whether episodes i and k (from 1) are more similar than
-- settings.pattern_similarity; an episode is not linked to itself.
create or replace function recall._episode_links(
    p_user_id  uuid,
    p_episodes uuid[],
    p_settings recall.settings
)
returns varbit[]
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set max_parallel_workers_per_gather = 0
as $function$
begin
    return array(
        with episodes as materialized (
            select i.place, e.embedding
              from unnest(p_episodes) with ordinality as i (id, place)
              join recall.memory_embedding as e
                on e.user_id = p_user_id and e.memory_id = i.id
                   and e.embedding_model = p_settings.embedding_model
        ), pairs as materialized (
            select a.place as one, b.place as other,
                   1 - (a.embedding <=> b.embedding) > p_settings.pattern_similarity as is_near
              from episodes as a
              join episodes as b on b.place > a.place
        )
        select string_agg(case when l.is_near then '1' else '0' end, ''
                          order by l.other)::varbit
          from (
                select p.one, p.other, p.is_near from pairs as p
                union all
                select p.other, p.one, p.is_near from pairs as p
                union all
                select e.place, e.place, false from episodes as e
               ) as l (one, other, is_near)
         group by l.one
         order by l.one);
end;
$function$;

comment on function recall._episode_links(uuid, uuid[], recall.settings) is
    'Which of some episodes are similar, as bits.';
