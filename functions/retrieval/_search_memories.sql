-- Search memories for search and compile_context, best first.
-- Local memories are found in p_session_id, or filter.session_id, and the sessions it continues;
-- otherwise only global ones. The user's count decides between exact search and candidates. The
-- settings below force one plan for any statistics: active rows by the partial index, joined by
-- hash. Memories of p_favored, or soon after, gain by settings.date_weight.
-- Raises  RC003 bad limit or filter, RC004 bad vector.
create or replace function recall._search_memories(
    p_user_id         uuid,
    p_query           text,
    p_query_embedding recall.memory_embedding.embedding%type,
    p_limit           integer,
    p_filter          jsonb,
    p_as_of           timestamptz,
    p_session_id      uuid,
    p_favored         tstzrange,
    p_settings        recall.settings
)
returns setof recall.found_memory
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
set enable_nestloop = off
set enable_seqscan = off
set jit = off
as $function$
declare
    v_filter     recall.memory_filter := recall._read_filter(p_filter, true);
    v_words      constant text[]  := case when p_query collate pg_c_utf8 ~ '\S'
                                          then recall._query_words(p_query, p_settings) end;
    v_weight     constant recall.score_weights := recall._score_weights(
        p_settings, v_words is not null, p_query_embedding is not null);
    v_is_now     constant boolean := p_as_of is null and v_filter.valid_at is null
                                     and not v_filter.include_ended;
    v_sessions   uuid[] := array[v_filter.session_id];
    v_embedding  recall.memory_embedding.embedding%type;
    v_usual      double precision;
    v_only       uuid[];
    v_inside     uuid[];
    v_active     integer;
    v_found      recall.found_candidates;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_embedding(p_query_embedding, 'p_query_embedding', p_settings);
    if v_weight.importance > 0
       and (v_filter.min_similarity is not null or v_filter.min_match is not null) then
        raise exception using
            errcode = 'RC003',
            message = format('filter.%s without a query',
                             case when v_filter.min_match is null then 'min_similarity'
                                  else 'min_match' end),
            hint    = 'Pass p_query, p_query_embedding or both.';
    end if;
    v_active := recall._active_memory_count(p_user_id);
    if p_limit = 0 or v_is_now and v_active = 0 then
        return;
    end if;

    if p_query_embedding is not null then
        -- A copy in memory: a value stored in a table would be fetched for each comparison.
        v_embedding := recall._subvector(p_query_embedding, 1,
                                         recall._vector_dims(p_query_embedding));
        v_usual     := recall._usual_similarity(p_user_id, v_embedding, p_settings);
    end if;
    if p_session_id is not null then
        v_sessions := recall._session_chain(p_user_id, p_session_id);
    elsif v_filter.session_id is not null then
        v_sessions := recall._session_chain(p_user_id, v_filter.session_id);
        v_filter.session_id := null;
    end if;
    if v_filter.stale is not null then
        v_filter := recall._stale_filter(v_filter, v_filter.stale, p_as_of, p_settings);
    end if;

    if not (v_is_now and v_filter.is_empty) then
        v_only   := case when v_active > p_settings.exact_search_limit
            then recall._matching_among_many(p_user_id, v_filter, p_as_of, v_sessions)
            else recall._matching_memories(p_user_id, v_filter, p_as_of, v_sessions) end;
        v_active := cardinality(v_only);
    end if;
    if v_is_now and v_active > p_settings.exact_search_limit and v_weight.importance = 0 then
        if p_favored is not null then
            v_filter.is_empty        := false;
            v_filter.observed_after  := lower(p_favored);
            v_filter.observed_before := upper(p_favored) + interval '7 days';
            v_inside := recall._likely_memories(
                p_user_id, v_words, v_embedding,
                recall._matching_among_many(p_user_id, v_filter, null, v_sessions), p_limit,
                v_sessions, v_filter, p_settings);
        end if;
        v_only := recall._likely_memories(p_user_id, v_words, v_embedding, v_only, p_limit,
                                          v_sessions, v_filter, p_settings);
        if v_inside is not null then
            v_only := array(select unnest(v_only) union select unnest(v_inside));
        end if;
    end if;

    if v_weight.importance > 0 then
        v_found := recall._important_memories(p_user_id, v_only, p_limit, v_sessions,
                                              v_filter);
    else
        v_found := recall._find_memories(p_user_id, v_words, v_embedding, v_only, p_limit,
                                         v_filter, v_usual, v_sessions, v_weight,
                                         case when p_favored is null then 0
                                              else p_settings.date_weight end, p_settings);
    end if;

    if p_favored is not null then
        return query
        select r.*
          from recall._favor_memories(p_user_id, v_found.candidates, v_found.largest_count,
                                      p_limit, coalesce(p_as_of, now()), v_weight, v_usual,
                                      p_favored, p_settings) as r;
        return;
    end if;
    return query
    select r.*
      from recall._rank_memories(p_user_id, v_found.candidates, v_found.largest_count, p_limit,
                                 coalesce(p_as_of, now()), v_weight, v_usual, p_settings) as r;
end;
$function$;

comment on function recall._search_memories(uuid, text, recall.memory_embedding.embedding%type,
    integer, jsonb, timestamptz, uuid, tstzrange, recall.settings) is
    'Memories for a query, best first, with each part of their scores.';
