-- recall.search(user, query, embedding, limit, filter, as_of) -> memories, best first
-- With a text and a vector both rank; with a vector alone it is the exact semantic search, with a
-- text alone the lexical one, without both the most important and recent. Always as many rows as
-- match, up to the limit. Reads only.
-- Raises  RC003 bad limit or filter, RC004 bad vector.
create or replace function recall.search(
    p_user_id         uuid,
    p_query           text        default null,
    p_query_embedding halfvec     default null,
    p_limit           integer     default 10,
    p_filter          jsonb       default '{}',
    p_as_of           timestamptz default null
)
returns table (
    memory_id       uuid,
    content         text,
    kind            text,
    tier            text,
    score           double precision,
    relevance       double precision,
    similarity      double precision,
    lexical         double precision,
    freshness       double precision,
    frequency       double precision,
    authority       double precision,
    importance      real,
    confidence      real,
    tags            text[],
    observed_at     timestamptz,
    created_at      timestamptz,
    token_count     integer,
    slot            text,
    scope           text,
    provenance      text,
    source_turn_ids uuid[],
    access_count    integer,
    session_id      uuid,
    similarity_part double precision,
    lexical_part    double precision,
    freshness_part  double precision,
    frequency_part  double precision,
    authority_part  double precision,
    importance_part double precision,
    decay           double precision
)
language plpgsql
stable
parallel safe
security definer
set search_path from current
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
as $function$
begin
    perform recall._check_user(p_user_id);
    return query
    select m.*
      from recall._search_memories(
               p_user_id, p_query, p_query_embedding, p_limit, p_filter, p_as_of, null,
               recall._settings(p_user_id)) as m;
end;
$function$;

comment on function recall.search(uuid, text, halfvec, integer, jsonb, timestamptz) is
    'Memories of the user for a text, a vector or both, best first. Filter: kinds, kinds_none, '
    'tiers, scopes, slots, tags_any, tags_all, provenance, source, source_session_id, agent_id, '
    'session_id, metadata, observed_after, observed_before, valid_at, min_similarity, '
    'include_ended. as_of replays what was known. score = decay × the sum of the parts; relevance '
    'is the classic score (0 to 1).';
