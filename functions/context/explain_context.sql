-- Explain a context: list candidate memories, the parts of their scores, and why each was packed.
-- The selection is that of compile_context, in the order of packing. A score is decay times the sum
-- of the parts, as in a search. Stale memories follow, which are not candidates, ranked among
-- themselves.
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
    v_session  recall.sessions;
    v_settings recall.settings;
    v_context  record;
    v_query    text;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_options, 'p_options');
    v_context := recall._select_context(p_user_id, p_session_id, p_query, p_query_embedding,
                                        p_options, p_as_of, true);

    v_session  := recall._read_session(p_user_id, p_session_id);
    v_settings := recall._context_settings(p_user_id, v_context.o_options);
    v_query    := recall._query_text(p_query, v_context.o_current);

    return query
    select m.memory_id, m.content, m.token_count, m.score, m.relevance, m.match, m.similarity,
           m.lexical, m.freshness, m.frequency, m.authority, m.taken, m.reason, m.kind, m.tier,
           m.observed_at,
           p.similarity_part, p.lexical_part, p.freshness_part, p.frequency_part,
           p.authority_part, p.importance_part, p.decay
      from unnest(v_context.o_memories) with ordinality as m
      join recall._candidate_memories(
               v_session, v_query, p_query_embedding, v_context.o_options, p_as_of,
               v_context.o_room, v_settings) as p
        on p.memory_id = m.memory_id
     order by m.ordinality;
    -- Stale memories are not listed when they are the candidates, or when the caller chose the
    -- memories, unless filter.stale is false.
    if v_context.o_options #> '{filter,stale}' = 'true'
       or v_context.o_options ? 'memory_ids'
          and v_context.o_options #> '{filter,stale}' is distinct from 'false' then
        return;
    end if;

    return query
    select c.memory_id, c.content, c.token_count, c.score, c.relevance, c.match, c.similarity,
           c.lexical, c.freshness, c.frequency, c.authority, false,
           format('stale: importance %s, untouched since %s', p.importance,
                  (coalesce(m.last_accessed_at, m.created_at) at time zone 'UTC')::date),
           c.kind, c.tier, c.observed_at, p.similarity_part, p.lexical_part, p.freshness_part,
           p.frequency_part, p.authority_part, p.importance_part, p.decay
      from recall._candidate_memories(
               v_session, v_query, p_query_embedding,
               jsonb_set('{"filter": {}}' || v_context.o_options - 'memory_ids',
                         '{filter,stale}', 'true'),
               p_as_of, v_context.o_room, v_settings) as p
      join recall.memory_store as m on m.user_id = p_user_id and m.memory_id = p.memory_id
     cross join lateral (select recall._plain_text(p.content) offset 0) as t (body)
     cross join lateral recall._context_memory(
               p, t.body, v_context.o_options -> 'format' = '"bullets"') as c
     where v_context.o_options -> 'memory_ids' ? p.memory_id::text is not true
     order by c.score desc, c.memory_id;
end;
$function$;

comment on function recall.explain_context(uuid, uuid, text, halfvec, jsonb, timestamptz) is
    'List every candidate memory of a context in the order of packing, with the parts of its '
    'score (decay × the sum of the parts), whether it was taken, and the reason. Stale memories '
    'follow, with the reason "stale".';
