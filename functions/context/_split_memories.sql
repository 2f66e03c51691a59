-- recall._split_memories(…) -> memories of selection split: facts and episodes, each best first
-- Two searches, so that each group has a ranking of its own; an episode is what has that kind.
-- Twice as many as may be taken, since some may be repetitions or too long.
create or replace function recall._split_memories(
    p_session         recall.sessions,
    p_query           text,
    p_query_embedding halfvec,
    p_options         jsonb,
    p_as_of           timestamptz,
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
    v_filter constant jsonb := coalesce(p_options -> 'filter', '{}');
    v_group  record;
begin
    if coalesce(p_options ->> 'selection', 'hybrid') <> 'split' then
        return;
    end if;
    perform recall._read_filter(v_filter, true);

    for v_group in
        select g.is_episode, to_jsonb(array_agg(g.kind order by g.kind)) as kinds
          from (
                select k.kind, k.kind = 'episode' as is_episode
                  from recall.memory_kinds as k
                 where jsonb_typeof(v_filter -> 'kinds') is distinct from 'array'
                    or v_filter -> 'kinds' ? k.kind
               ) as g
         group by g.is_episode
         order by g.is_episode
    loop
        return query
        select s.*
          from recall._search_memories(
                   p_session.user_id, p_query, p_query_embedding,
                   2 * (p_options ->> case when v_group.is_episode then 'max_episodes'
                                           else 'max_facts' end)::integer,
                   v_filter || jsonb_build_object('kinds', v_group.kinds), p_as_of,
                   p_session.session_id, p_settings) as s;
    end loop;
end;
$function$;

comment on function recall._split_memories(recall.sessions, text, halfvec, jsonb, timestamptz,
    recall.settings) is
    'Memories of a context in two groups, facts and episodes, each best first.';
