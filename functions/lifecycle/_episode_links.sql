-- Score how likely each two episodes are about one matter: n × n numbers by rows, none below 0.
-- From v_baseline vectors on, a score is the excess of a cosine over what is typical
-- of its two episodes, in standard deviations. A shared word adds up to 3, more the rarer it is. No
-- constant of the embedding model suffices: all-MiniLM-L6-v2 gives unrelated episodes 0.1 to 0.2 in
-- English, 0.6 in German. Medians keep a frequent matter from counting as typical.
-- Cost    n² / 2 cosines of at most 200 episodes (recall._recent_episodes).
create or replace function recall._episode_links(
    p_user_id  uuid,
    p_episodes uuid[],
    p_settings recall.settings
)
returns real[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set max_parallel_workers_per_gather = 0
as $function$
declare
    -- Vectors from which a typical cosine is known. Up to twice as many, words alone decide, too.
    v_baseline constant integer          := 8;
    v_count    constant integer          := cardinality(p_episodes);
    v_rare     constant double precision := greatest(6, v_count ^ 0.6);
    v_log      constant double precision := ln(v_count);
    v_passed   constant real             := p_settings.pattern_deviations;
begin
    return array(
        with episodes as materialized (
            select i.index, e.embedding
              from unnest(p_episodes) with ordinality as i (id, index)
              join recall.memory_embedding as e
                on e.user_id = p_user_id and e.memory_id = i.id
                   and e.embedding_model = p_settings.embedding_model
        ), cosines as materialized (
            select a.index as one, b.index as other,
                   1 - recall._cosine_distance(a.embedding, b.embedding) as cosine
              from episodes as a
              join episodes as b on b.index > a.index
        ), typical as materialized (
            select c.index, percentile_cont(0.5) within group (order by c.cosine) as cosine
              from (select s.one, s.cosine from cosines as s
                     union all
                    select s.other, s.cosine from cosines as s) as c (index, cosine)
             group by c.index
        ), center as materialized (
            select percentile_cont(0.5) within group (order by t.cosine) as cosine
              from typical as t
        ), excesses as materialized (
            select c.one, c.other, c.cosine,
                   c.cosine - a.cosine - b.cosine + m.cosine as excess
              from cosines as c
              join typical as a on a.index = c.one
              join typical as b on b.index = c.other
             cross join center as m
        ), spread as materialized (
            -- Without recurring matters, 1.4826 median deviations equal a standard deviation.
            select greatest(1.4826 * percentile_cont(0.5) within group (order by abs(e.excess)),
                            0.02) as deviation
              from excesses as e
        ), words as materialized (
            select a.index as one, b.index as other, min(cardinality(w.indexes)) as how_many
              from recall._episode_words(p_user_id, p_episodes, p_settings) as w
             cross join lateral unnest(w.indexes) as a (index)
              join lateral unnest(w.indexes) as b (index) on b.index > a.index
             group by a.index, b.index
        ), near as materialized (
            -- With too few vectors for a typical cosine, compare with episodes that share a word.
            select greatest(0.4, 0.8 * percentile_cont(0.5) within group (order by c.cosine))
                       as cosine
              from cosines as c
              join words as w using (one, other)
             where v_count < v_baseline
            having count(*) > 0
        ), scores as materialized (
            select p.one, p.other, greatest(
                       case when v_count >= v_baseline
                            then p.excess / p.deviation + 3 * coalesce(p.rarity, 0) end,
                       case when p.cosine > p_settings.pattern_similarity
                              or p.cosine >= (select n.cosine from near as n)
                            then v_passed end,
                       -- Words alone decide where there are few vectors, or none.
                       case when p.how_many <= v_rare
                             and (v_count < 2 * v_baseline
                                  or not exists (select from episodes))
                            then v_passed + p.rarity end) as score
              from (
                    select one, other, e.cosine, e.excess, d.deviation, w.how_many,
                           1 - ln(w.how_many) / v_log as rarity
                      from (excesses as e cross join spread as d)
                      full join words as w using (one, other)
                   ) as p
        )
        select coalesce(s.score, 0)
          from generate_series(1, v_count) as a (index)
         cross join generate_series(1, v_count) as b (index)
          left join (
                select c.one, c.other, c.score from scores as c where c.score > 0
                 union all
                select c.other, c.one, c.score from scores as c where c.score > 0
               ) as s on s.one = a.index and s.other = b.index
         order by a.index, b.index);
end;
$function$;

comment on function recall._episode_links(uuid, uuid[], recall.settings) is
    'How likely each two of some episodes are about one matter, as a matrix by rows.';
