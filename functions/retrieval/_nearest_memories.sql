-- Find the nearest memories of a user who has very many, for a search by a vector alone.
-- The result is twice the limit and 20, so that memories that are as near as the last one are
-- ranked, too. The largest access count is that of the compared memories, at most v_least. Only
-- frequency and relevance depend on it.
create or replace function recall._nearest_memories(
    p_user_id   uuid,
    p_embedding recall.memory_embedding.embedding%type,
    p_limit     integer,
    p_settings  recall.settings
)
returns recall.found_candidates
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_bits     constant bit varying := recall._binary_quantize(p_embedding);
    v_few      constant integer := 2 * least(p_limit, 1000000000) + 20;
    v_least    constant integer := greatest(4 * p_settings.semantic_candidates, v_few);
    v_near     constant recall.sign_neighbors := recall._nearest_by_bits(
        p_user_id, p_embedding, null, p_limit, p_settings);
    v_ids       uuid[];
    v_distances double precision[];
    v_apart     double precision[];
    v_compared  integer := 0;
    v_count     integer := v_least;
    v_farthest  double precision;
    v_found     recall.found_candidates;
begin
    -- Compare the candidates in the order of their bits. Stop where the next ones differ in more
    -- bits than any of the nearest, plus three standard deviations. For independent bits that
    -- differ with probability p, one is √(dimensions · p · (1 − p)). Nearer ones hardly ever
    -- follow. At the default settings it compares 200 to all 800.
    loop
        select v_ids || array_agg(n.memory_id), v_distances || array_agg(n.distance),
               v_apart || array_agg(n.apart)
          into v_ids, v_distances, v_apart
          from (
                select e.memory_id, recall._cosine_distance(e.embedding, p_embedding) as distance,
                       recall._hamming_distance(e.bits, v_bits) as apart
                  from recall.memory_embedding as e
                 where e.user_id         = p_user_id
                   and e.embedding_model = p_settings.embedding_model
                   and e.memory_id       = any (v_near.memory_ids[v_compared + 1:v_count])
               ) as n;
        v_compared := v_count;
        v_farthest := (
            select max(n.apart)
              from (
                    select c.apart
                      from unnest(v_distances, v_apart) as c (distance, apart)
                     order by c.distance
                     limit p_limit
                   ) as n);
        v_count := recall._bits_within_reach(v_farthest, v_near, recall._vector_dims(p_embedding));
        continue when v_count > v_compared;

        select array_agg(row(n.memory_id, 1 - n.distance, null, greatest(0, 1 - n.distance),
                             null)::recall.memory_candidate)
                   filter (where n.place <= v_few),
               max(n.access_count),
               case when count(*) >= p_limit
                    then max(n.apart) filter (where n.place <= p_limit) end
          into v_found.candidates, v_found.largest_count, v_farthest
          from (
                select e.memory_id, e.distance, e.apart, m.access_count,
                       row_number() over (order by e.distance) as place
                  from (
                        select *
                          from unnest(v_ids, v_distances, v_apart)
                               as c (memory_id, distance, apart)
                         order by c.distance
                       ) as e
                 cross join lateral (
                        select s.access_count
                          from recall.memory_store as s
                         where s.user_id   = p_user_id
                           and s.memory_id = e.memory_id
                           and s.ended_at is null
                           and s.session_id is null
                           and (s.expires_at is null or s.expires_at > now())
                        offset 0
                       ) as m
                 order by e.distance
                 limit v_least
               ) as n;
        -- Where hidden memories are among the nearest, the others are farther.
        v_count := recall._bits_within_reach(v_farthest, v_near, recall._vector_dims(p_embedding));
        exit when v_count <= v_compared;
    end loop;
    return v_found;
end;
$function$;

comment on function recall._nearest_memories(uuid, recall.memory_embedding.embedding%type, integer,
    recall.settings) is
    'Among very many memories the nearest, by sign bits and then exactly, as candidates.';
