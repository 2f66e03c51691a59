-- recall._nearest_memories(…) -> the memories nearest to a vector
-- The exact scan of one user's vectors, nearest first, until enough of them are to be seen; the
-- score is the cosine. What a search by a vector alone costs beyond the bare scan counts, so this
-- is one statement; the largest access count, when it is needed at all, is looked for among the
-- most important settings.exact_search_limit. Fewer rows than the limit when vectors are missing or
-- much is hidden.
create or replace function recall._nearest_memories(
    p_user_id   uuid,
    p_embedding halfvec,
    p_limit     integer,
    p_sessions  uuid[],
    p_settings  recall.settings
)
returns setof recall.found_memory
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_now        constant double precision := date_part('epoch', now());
    v_forgetting constant double precision := p_settings.freshness_decay_per_hour / 3600;
begin
    return query
    with used as materialized (
        select ln(1 + max(u.access_count)::double precision) as most
          from (
                select a.access_count
                  from recall.memory_store as a
                 where a.user_id = p_user_id
                   and a.ended_at is null
                 order by a.importance desc
                 limit p_settings.exact_search_limit
               ) as u
    )
    select m.memory_id, m.content, m.kind, m.tier::text, t.closeness,
           least(1, p_settings.classic_similarity_weight * t.closeness
                    + p_settings.classic_freshness_weight * t.freshness
                    + p_settings.classic_frequency_weight * t.frequency
                    + p_settings.classic_authority_weight * m.confidence * t.authority),
           1 - m.distance, null::double precision, t.freshness, t.frequency, t.authority,
           m.importance, m.confidence, m.tags, m.observed_at, m.created_at, m.token_count, m.slot,
           m.scope::text, m.provenance::text, m.source_turn_ids, m.access_count, m.session_id,
           t.closeness, 0::double precision, 0::double precision, 0::double precision,
           0::double precision, 0::double precision, 1::double precision
      from (
            select s.*, e.distance
              from (
                    select v.memory_id, v.embedding <=> p_embedding as distance
                      from recall.memory_embedding as v
                     where v.user_id         = p_user_id
                       and v.embedding_model = p_settings.embedding_model
                     order by distance
                     limit 2 * p_limit::bigint + 50
                   ) as e
             cross join lateral (
                    select a.*
                      from recall.memory_store as a
                     where a.user_id   = p_user_id
                       and a.memory_id = e.memory_id
                       and a.ended_at is null
                       and (a.session_id is null or a.session_id = any (p_sessions))
                       and (a.expires_at is null or a.expires_at > now())
                    offset 0
                   ) as s
             order by e.distance
             fetch first p_limit rows with ties
           ) as m
     cross join lateral (
            select greatest(0, 1 - m.distance),
                   exp(-v_forgetting * greatest(0, v_now - date_part(
                       'epoch', coalesce(m.last_accessed_at, m.created_at)))),
                   case when m.access_count = 0 then 0
                        else ln(1 + m.access_count::double precision)
                             / (select u.most from used as u) end,
                   recall._authority(m.provenance)
           ) as t (closeness, freshness, frequency, authority)
     order by m.distance, m.importance desc, m.created_at desc, m.memory_id
     limit p_limit;
end;
$function$;

comment on function recall._nearest_memories(uuid, halfvec, integer, uuid[], recall.settings) is
    'A search by a vector alone: the nearest, exactly.';
