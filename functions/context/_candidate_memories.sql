-- Return the candidate memories of a context, best first, with the parts of their scores.
-- The option selection chooses one of three statements: in a single one, branches without rows
-- would still take time. Stale memories are excluded unless filter.stale says otherwise.
create or replace function recall._candidate_memories(
    p_session         recall.sessions,
    p_query           text,
    p_query_embedding halfvec,
    p_options         jsonb,
    p_as_of           timestamptz,
    p_room            bigint,
    p_settings        recall.settings
)
returns setof recall.found_memory
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_selection text        := case when p_options ? 'memory_ids' then 'given'
                                    else coalesce(p_options ->> 'selection', 'hybrid') end;
    v_filter    jsonb       := coalesce(p_options -> 'filter', '{}') || jsonb_build_object(
        'stale', coalesce(nullif(p_options #> '{filter,stale}', 'null'), 'false'));
    v_as_of     timestamptz := case when p_options ->> 'memories_as_of' = 'session_start'
                                    then least(p_session.created_at, p_as_of) else p_as_of end;
begin
    if v_selection = 'hybrid' then
        return query
        select *
          from recall._search_memories(
                   p_session.user_id, p_query, p_query_embedding,
                   recall._candidate_limit(p_room, p_options, p_settings), v_filter, v_as_of,
                   p_session.session_id,
                   recall._favored_time(p_query, v_filter || p_options, p_as_of, p_settings),
                   p_settings);
    elsif v_selection = 'split' then
        return query
        select *
          from recall._split_memories(
                   p_session, p_query, p_query_embedding, p_options, v_filter, v_as_of,
                   recall._favored_time(p_query, v_filter || p_options, p_as_of, p_settings),
                   p_settings);
    else
        return query
        select *
          from recall._listed_memories(
                   p_session.user_id, v_selection,
                   coalesce(2 * (p_options ->> 'max_memories')::bigint,
                            p_settings.exact_search_limit)::integer,
                   v_filter, v_as_of, p_session.session_id, p_settings,
                   array(select jsonb_array_elements_text(p_options -> 'memory_ids')::uuid));
    end if;
end;
$function$;

comment on function recall._candidate_memories(recall.sessions, text, halfvec, jsonb, timestamptz,
    bigint, recall.settings) is
    'Candidate memories of a context, best first, with the parts of their scores.';
