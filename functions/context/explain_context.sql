-- Explain a context: list candidate memories, the parts of their scores, and why each was packed.
-- The selection is that of compile_context, in the order of packing. A score is decay times the sum
-- of the parts, as in a search. Stale memories follow, which are not candidates, ranked among
-- themselves.
-- Raises  as compile_context.
create or replace function recall.explain_context(
    p_user_id         uuid,
    p_session_id      uuid,
    p_query           text        default null,
    p_query_embedding recall.memory_embedding.embedding%type default null,
    p_options         jsonb       default '{}',
    p_as_of           timestamptz default null
)
returns table (
    memory_id       uuid,
    content         text,
    token_count     integer,
    score           double precision,
    relevance       double precision,
    match           double precision,
    similarity      double precision,
    lexical         double precision,
    freshness       double precision,
    frequency       double precision,
    authority       double precision,
    taken           boolean,
    reason          text,
    kind            text,
    tier            text,
    observed_at     timestamptz,
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
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
as $function$
declare
    v_request recall.context_request;
    v_plan    recall.context_plan;
    v_options jsonb;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_options, 'p_options');
    v_request := recall._context_request(p_user_id, p_session_id, p_query, p_query_embedding,
                                         p_options, p_as_of);
    v_plan    := recall._context_plan(v_request, true);
    v_options := v_request.options;

    return query
    select f.memory_id, m.content, m.token_count, f.score, f.relevance, f.match, f.similarity,
           f.lexical, f.freshness, f.frequency, f.authority, m.taken, m.reason, f.kind, f.tier,
           f.observed_at, f.similarity_part, f.lexical_part, f.freshness_part, f.frequency_part,
           f.authority_part, f.importance_part, f.decay
      from unnest(v_plan.memories) with ordinality as m
     cross join lateral (select (m.found).*) as f
     order by m.ordinality;
    -- Stale memories are not listed when they are the candidates, or when the caller chose the
    -- memories, unless filter.stale is false.
    if v_options #> '{filter,stale}' = 'true'
       or v_options ? 'memory_ids' and v_options #> '{filter,stale}' is distinct from 'false' then
        return;
    end if;

    v_request.options := jsonb_set('{"filter": {}}' || v_options - 'memory_ids', '{filter,stale}',
                                   'true');
    return query
    select f.memory_id, c.content, c.token_count, f.score, f.relevance, f.match, f.similarity,
           f.lexical, f.freshness, f.frequency, f.authority, false,
           format('stale: importance %s, untouched since %s', f.importance,
                  (coalesce(m.last_accessed_at, m.created_at) at time zone 'UTC')::date),
           f.kind, f.tier, f.observed_at, f.similarity_part, f.lexical_part, f.freshness_part,
           f.frequency_part, f.authority_part, f.importance_part, f.decay
      from unnest(recall._candidate_memories(v_request, v_plan.memory_budget, true)) as c
     cross join lateral (select (c.found).*) as f
      join recall.memory_store as m on m.user_id = p_user_id and m.memory_id = f.memory_id
     where v_options -> 'memory_ids' ? f.memory_id::text is not true
     order by f.score desc, f.memory_id;
end;
$function$;

comment on function recall.explain_context(uuid, uuid, text, recall.memory_embedding.embedding%type,
    jsonb, timestamptz) is
    'List every candidate memory of a context in the order of packing, with the parts of its '
    'score (decay × the sum of the parts), whether it was taken, and the reason. Stale memories '
    'follow, with the reason "stale".';
