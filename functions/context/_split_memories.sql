-- Search memories of selection split: facts and episodes, each best first.
-- Two searches give each group its own ranking; an episode is a memory of that kind. Each finds
-- twice the maximum, since some may be repeated or too long.
create or replace function recall._split_memories(
    p_session         recall.sessions,
    p_query           text,
    p_query_embedding halfvec,
    p_options         jsonb,
    p_filter          jsonb,
    p_as_of           timestamptz,
    p_favored         tstzrange,
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
    v_is_split  constant boolean := p_options ->> 'selection' = 'split';
    v_facts     constant integer := 2 * (p_options ->> 'max_facts')::integer;
    v_episodes  constant integer := 2 * (p_options ->> 'max_episodes')::integer;
begin
    if v_is_split is distinct from true then
        return;
    end if;

    return query
    select s.*
      from recall._search_memories(
               p_session.user_id, p_query, p_query_embedding, v_facts,
               p_filter || jsonb_build_object(
                   'kinds_none',
                   coalesce(nullif(p_filter -> 'kinds_none', 'null'), '[]') || '["episode"]'),
               p_as_of, p_session.session_id, p_favored, p_settings) as s;
    return query
    select s.*
      from recall._search_memories(
               p_session.user_id, p_query, p_query_embedding, v_episodes,
               p_filter || '{"kinds": ["episode"]}', p_as_of, p_session.session_id,
               p_favored, p_settings) as s
     where nullif(p_filter -> 'kinds', 'null') is null or p_filter -> 'kinds' ? 'episode';
end;
$function$;

comment on function recall._split_memories(recall.sessions, text, halfvec, jsonb, jsonb,
    timestamptz, tstzrange, recall.settings) is
    'Memories of a context in two groups, facts and episodes, each best first.';
