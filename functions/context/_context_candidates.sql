-- recall._context_candidates(…) -> candidate memories, best first, with the tokens of their lines
-- By the option selection; of the three sources below one gives rows. A line costs the memory's
-- count and its bullet, kind and date; a text that had to be defused is counted anew. Of a search
-- for a small room no more than could stand in it, at 20 tokens a line (10 in format bullets), and
-- 15 for those that are too long or said already: more of them changed nothing but the time.
create or replace function recall._context_candidates(
    p_session         recall.sessions,
    p_query           text,
    p_query_embedding halfvec,
    p_options         jsonb,
    p_as_of           timestamptz,
    p_room            bigint,
    p_settings        recall.settings
)
returns recall.context_memory[]
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_selection text        := case when p_options ? 'memory_ids' then 'given'
                                    else coalesce(p_options ->> 'selection', 'hybrid') end;
    v_listed    integer     := coalesce(2 * (p_options ->> 'max_memories')::bigint,
                                        p_settings.exact_search_limit);
    v_is_plain  boolean     := coalesce(p_options ->> 'format' = 'bullets', false);
    v_limit     integer     := least(
        p_settings.semantic_candidates + p_settings.lexical_candidates
        + p_settings.frequent_candidates,
        15 + least(greatest(0, p_room) / case when v_is_plain then 10 else 20 end,
                   (p_options ->> 'max_memories')::bigint));
    v_as_of     timestamptz := case when p_options ->> 'memories_as_of' = 'session_start'
                                    then least(p_session.created_at, p_as_of) else p_as_of end;
    v_results   recall.context_memory[];
begin
    select array_agg(row(
               m.memory_id, t.body, m.kind, m.tier, m.observed_at,
               case when v_is_plain then 5 else 12 + (7 * length(m.kind) + 9) / 10 end
                  + case when t.body = m.content then m.token_count
                         else recall._estimate_tokens(t.body) end,
               m.score, m.relevance, m.similarity, m.lexical, m.freshness, m.frequency,
               m.authority, false, null)::recall.context_memory order by m.ordinality)
      into v_results
      from (
            select s.*
              from recall._search_memories(
                       p_session.user_id, p_query, p_query_embedding, v_limit,
                       coalesce(p_options -> 'filter', '{}'), v_as_of, p_session.session_id,
                       p_settings) with ordinality as s
             where v_selection = 'hybrid'
             union all
            select s.*
              from recall._split_memories(p_session, p_query, p_query_embedding, p_options,
                                          v_as_of, p_settings) with ordinality as s
             where v_selection = 'split'
             union all
            select s.*
              from recall._listed_memories(
                       p_session.user_id, v_selection, v_listed,
                       coalesce(p_options -> 'filter', '{}'), v_as_of, p_session.session_id,
                       p_settings,
                       array(select jsonb_array_elements_text(p_options -> 'memory_ids')::uuid))
                       with ordinality as s
             where v_selection in ('all', 'top', 'given')
           ) as m
     cross join lateral (select recall._plain_text(m.content) offset 0) as t (body);
    return coalesce(v_results, '{}');
end;
$function$;

comment on function recall._context_candidates(recall.sessions, text, halfvec, jsonb, timestamptz,
    bigint, recall.settings) is
    'Candidate memories of a context, best first, each with the tokens its line will take.';
