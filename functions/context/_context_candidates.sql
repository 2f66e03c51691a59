-- recall._context_candidates(…) -> candidate memories, best first, with the tokens of their lines
-- By the option selection. Three statements, since one with branches that give nothing takes its
-- time for them; the rows of a function come in its order.
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
    v_filter    jsonb       := coalesce(p_options -> 'filter', '{}');
    v_is_plain  boolean     := coalesce(p_options ->> 'format' = 'bullets', false);
    v_limit     integer     := recall._candidate_limit(p_room, p_options, p_settings);
    v_as_of     timestamptz := case when p_options ->> 'memories_as_of' = 'session_start'
                                    then least(p_session.created_at, p_as_of) else p_as_of end;
begin
    if v_selection = 'hybrid' then
        return array(
            select recall._context_memory(m, t.body, v_is_plain)
              from recall._search_memories(
                       p_session.user_id, p_query, p_query_embedding, v_limit, v_filter, v_as_of,
                       p_session.session_id, p_settings) as m
             cross join lateral (select recall._plain_text(m.content) offset 0) as t (body));
    elsif v_selection = 'split' then
        return array(
            select recall._context_memory(m, t.body, v_is_plain)
              from recall._split_memories(p_session, p_query, p_query_embedding, p_options,
                                          v_as_of, p_settings) as m
             cross join lateral (select recall._plain_text(m.content) offset 0) as t (body));
    end if;
    return array(
        select recall._context_memory(m, t.body, v_is_plain)
          from recall._listed_memories(
                   p_session.user_id, v_selection, v_listed, v_filter, v_as_of,
                   p_session.session_id, p_settings,
                   array(select jsonb_array_elements_text(p_options -> 'memory_ids')::uuid)) as m
         cross join lateral (select recall._plain_text(m.content) offset 0) as t (body));
end;
$function$;

comment on function recall._context_candidates(recall.sessions, text, halfvec, jsonb, timestamptz,
    bigint, recall.settings) is
    'Candidate memories of a context, best first, each with the tokens its line will take.';
