-- recall.explain_context(…as compile_context…) -> every candidate memory, and why
-- The same selection as compile_context, as rows in the order of packing; as in a search a score
-- is decay times the sum of the parts.
-- Raises  as compile_context.
create or replace function recall.explain_context(
    p_user_id         uuid,
    p_session_id      uuid,
    p_query           text        default null,
    p_query_embedding halfvec     default null,
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
set search_path from current
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
as $function$
declare
    v_context record;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_options, 'p_options');
    v_context := recall._select_context(p_user_id, p_session_id, p_query, p_query_embedding,
                                        p_options, p_as_of, true);

    return query
    select m.memory_id, m.content, m.token_count, m.score, m.relevance, m.match, m.similarity,
           m.lexical, m.freshness, m.frequency, m.authority, m.taken, m.reason, m.kind, m.tier,
           m.observed_at,
           p.similarity_part, p.lexical_part, p.freshness_part, p.frequency_part,
           p.authority_part, p.importance_part, p.decay
      from unnest(v_context.o_memories) with ordinality as m
      join recall._candidate_memories(
               recall._read_session(p_user_id, p_session_id),
               recall._query_text(p_query, v_context.o_current),
               p_query_embedding, v_context.o_options, p_as_of, v_context.o_room,
               recall._context_settings(p_user_id, v_context.o_options)) as p
        on p.memory_id = m.memory_id
     order by m.ordinality;
end;
$function$;

comment on function recall.explain_context(uuid, uuid, text, halfvec, jsonb, timestamptz) is
    'Every candidate memory of a context: the terms of its score (decay × the sum of the parts), '
    'taken or left, and why.';
