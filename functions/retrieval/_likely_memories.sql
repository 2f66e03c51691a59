-- Select the candidate memories of a search when the user has very many.
-- They are the nearest (by sign bits, then exactly), the best by words, and the most important, to
-- fill the limit. Of twenty thousand memories, or p_only, only these few hundred get a full score.
-- Hidden memories do not count against a limit.
create or replace function recall._likely_memories(
    p_user_id   uuid,
    p_words     text[],
    p_embedding recall.memory_embedding.embedding%type,
    p_only      uuid[],
    p_limit     integer,
    p_sessions  uuid[],
    p_filter    recall.memory_filter,
    p_settings  recall.settings
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_words constant tsquery := (
        select string_agg(recall._term_query(w.word)::text, '|')::tsquery
          from unnest(p_words) as w (word));
    v_near  constant uuid[]  := case when p_embedding is not null then
        (recall._nearest_by_bits(p_user_id, p_embedding, p_only, p_limit, p_settings)).memory_ids
        end;
begin
    return array(
        (select e.memory_id
           from (
                 select v.memory_id, recall._cosine_distance(v.embedding, p_embedding) as distance
                   from recall.memory_embedding as v
                  where v.user_id         = p_user_id
                    and v.embedding_model = p_settings.embedding_model
                    and v.memory_id       = any (v_near)
                  order by distance
                ) as e
          cross join lateral (
                 select
                   from recall.memory_store as s
                  where s.user_id   = p_user_id
                    and s.memory_id = e.memory_id
                    and s.ended_at is null
                    and (s.session_id is null or s.session_id = any (p_sessions))
                    and (s.expires_at is null or s.expires_at > now())
                    and recall._staleness_matches(row(s.*), p_filter)
                 offset 0
                ) as m
          order by e.distance
          limit greatest(4 * p_settings.semantic_candidates, p_limit))
         union
        (select m.memory_id
           from recall.memory_store as m
          where v_words is not null
            and m.user_id = p_user_id
            and m.ended_at is null
            and m.search_vector @@ v_words
            and (p_only is null or m.memory_id in (select o.id from unnest(p_only) as o (id)))
            and (m.session_id is null or m.session_id = any (p_sessions))
            and (m.expires_at is null or m.expires_at > now())
            and recall._staleness_matches(row(m.*), p_filter)
          order by ts_rank(m.search_vector, v_words) desc, m.memory_id
          limit greatest(10 * p_settings.lexical_candidates, p_limit))
         union
        (select m.memory_id
           from recall.memory_store as m
          where m.user_id = p_user_id
            and m.ended_at is null
            and (p_only is null or m.memory_id in (select o.id from unnest(p_only) as o (id)))
            and (m.session_id is null or m.session_id = any (p_sessions))
            and (m.expires_at is null or m.expires_at > now())
            and recall._staleness_matches(row(m.*), p_filter)
          order by m.importance desc
          limit p_limit));
end;
$function$;

comment on function recall._likely_memories(uuid, text[], recall.memory_embedding.embedding%type,
    uuid[], integer, uuid[], recall.memory_filter, recall.settings) is
    'Among very many memories, those that a search scores: the nearest, the best by words, the '
    'most important.';
