-- Return the candidate memories, best first, each with the tokens of its line.
-- They lack the parts of their scores, since a context would pay for each value carried from step
-- to step; explain_context computes them again. Rows keep the order of the function.
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
    v_is_plain boolean := coalesce(p_options ->> 'format' = 'bullets', false);
begin
    return array(
        select recall._context_memory(m, t.body, v_is_plain)
          from recall._candidate_memories(p_session, p_query, p_query_embedding, p_options, p_as_of,
                                          p_room, p_settings) as m
         cross join lateral (select recall._plain_text(m.content) offset 0) as t (body));
end;
$function$;

comment on function recall._context_candidates(recall.sessions, text, halfvec, jsonb, timestamptz,
    bigint, recall.settings) is
    'Candidate memories of a context, best first, each with the tokens of its line.';
