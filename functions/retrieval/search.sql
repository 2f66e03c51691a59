-- Search memories by a text, a vector or both, best first.
-- A vector alone is the semantic search, a text alone the lexical one; without both, importance and
-- recency rank. Up to exact_search_limit memories all vectors are compared, above it those with the
-- nearest sign bits. It returns all matching rows up to the limit. A memory observed in a time that
-- the query names gains settings.date_weight of its score (recall.query_dates). Reads only.
-- Raises  RC003 bad limit or filter, RC004 bad vector.
create or replace function recall.search(
    p_user_id         uuid,
    p_query           text        default null,
    p_query_embedding recall.memory_embedding.embedding%type default null,
    p_limit           integer     default 10,
    p_filter          jsonb       default '{}',
    p_as_of           timestamptz default null
)
returns setof recall.found_memory
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
set enable_nestloop = off
set enable_seqscan = off
set jit = off
as $function$
declare
    v_settings   recall.settings;
    v_embedding  recall.memory_embedding.embedding%type;
    v_usual      double precision;
    v_forgetting double precision;
    v_found      recall.found_candidates;
    v_rows       integer := 0;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_filter, 'p_filter');
    v_settings := recall._settings(p_user_id);

    -- Fast path of the usual search, by a vector alone: the exact scan of the user's vectors, or of
    -- the nearest by sign bits, with the cosine as the score. The general path takes 1.6 times as
    -- long. The fast path reads only columns that it returns, and the largest access count only
    -- when a memory was accessed. Where it finds fewer rows than the limit (memories without a
    -- vector, or many that are hidden), the general path below adds the rest.
    if p_query is null and p_query_embedding is not null and p_filter = '{}' and p_as_of is null
       and v_settings.scoring = 'hybrid' and v_settings.decay_mode = 'none' then
        perform recall._check_limit(p_limit);
        perform recall._check_embedding(p_query_embedding, 'p_query_embedding', v_settings);
        -- Variables: an expression would be evaluated for each comparison.
        v_embedding  := recall._subvector(p_query_embedding, 1,
                                          recall._vector_dims(p_query_embedding));
        v_usual      := recall._usual_similarity(p_user_id, v_embedding, v_settings);
        v_forgetting := v_settings.freshness_decay_per_hour / 3600;
        if recall._active_memory_count(p_user_id) > v_settings.exact_search_limit then
            v_found := recall._nearest_memories(p_user_id, v_embedding, p_limit, v_settings);
            -- Fewer need not be the first of the general path, which also finds important ones.
            if cardinality(v_found.candidates) >= p_limit then
                return query
                select r.*
                  from recall._rank_memories(
                           p_user_id, v_found.candidates, v_found.largest_count, p_limit, now(),
                           recall._score_weights(v_settings, false, true), v_usual,
                           v_settings) as r;
                return;
            end if;
        else
            return query
            select m.memory_id, m.content, m.kind, m.tier::text, t.closeness,
                   least(1, v_settings.classic_similarity_weight * t.closeness
                            + v_settings.classic_freshness_weight * t.freshness
                            + v_settings.classic_frequency_weight * t.frequency
                            + v_settings.classic_authority_weight * m.confidence * t.authority),
                   recall._match(1 - e.distance, null, v_usual), 1 - e.distance,
                   null::double precision, t.freshness, t.frequency, t.authority,
                   m.importance, m.confidence, m.tags, m.observed_at, m.created_at, m.token_count,
                   m.slot, m.scope::text, m.provenance::text, m.source_turn_ids, m.access_count,
                   m.session_id,
                   t.closeness, 0::double precision, 0::double precision, 0::double precision,
                   0::double precision, 0::double precision, 1::double precision
              from (
                    select v.memory_id,
                           recall._cosine_distance(v.embedding, v_embedding) as distance
                      from recall.memory_embedding as v
                     where v.user_id         = p_user_id
                       and v.embedding_model = v_settings.embedding_model
                     order by distance
                     limit 2 * p_limit::bigint + 20
                   ) as e
             cross join lateral (
                    select a.memory_id, a.content, a.kind, a.tier, a.importance, a.confidence,
                           a.tags, a.observed_at, a.created_at, a.token_count, a.slot, a.scope,
                           a.provenance, a.source_turn_ids, a.access_count, a.session_id,
                           a.last_accessed_at
                      from recall.memory_store as a
                     where a.user_id   = p_user_id
                       and a.memory_id = e.memory_id
                       and a.ended_at is null
                       and a.session_id is null
                       and (a.expires_at is null or a.expires_at > now())
                    offset 0
                   ) as m
             cross join lateral (
                    select greatest(0, 1 - e.distance),
                           exp(-least(60, v_forgetting * greatest(0, date_part('epoch', now())
                               - date_part('epoch', coalesce(m.last_accessed_at, m.created_at))))),
                           case when m.access_count = 0 then 0
                                else ln(1 + m.access_count::double precision)
                                     / (select recall._largest_frequency(p_user_id)) end,
                           recall._authority(m.provenance)
                   ) as t (closeness, freshness, frequency, authority)
             order by e.distance, m.importance desc, m.created_at desc, m.memory_id
             limit p_limit;
            get diagnostics v_rows = row_count;
            if v_rows = p_limit then
                return;
            end if;
        end if;
    end if;

    return query
    select m.*
      from recall._search_memories(
               p_user_id, p_query, p_query_embedding, p_limit, p_filter, p_as_of, null,
               recall._favored_time(p_query, p_filter, p_as_of, v_settings), v_settings) as m
    offset v_rows;
end;
$function$;

comment on function recall.search(uuid, text, recall.memory_embedding.embedding%type, integer,
    jsonb, timestamptz) is
    'Memories of the user for a text, a vector or both, best first; without both, the most '
    'important and recent. Filter: kinds, kinds_none, tiers, scopes, slots, tags_any, tags_all, '
    'provenance, source, source_session_id, agent_id, session_id, metadata, observed_after, '
    'observed_before, valid_at, min_similarity, min_match, include_ended, stale (false: without '
    'unimportant memories that nobody has used for long, true: only those); asked_at (time of the '
    'query, for "last week"; default as_of, or now), dates (false: such expressions favor '
    'nothing). as_of searches what was known at that time. score = decay × the sum of the parts; '
    'relevance is the classic score (0 to 1); match says how well a memory fits the query, from 0 '
    '(no better than any text) to 1, comparable between queries.';
