-- recall._drawn_memories(user, session, source) -> what was drawn from a source, and of that
-- Every memory of the session and source (NULL: any), ended ones too, and what consolidation made
-- of them: merged texts, patterns over their episodes, and what was made of those.
create or replace function recall._drawn_memories(
    p_user_id    uuid,
    p_session_id uuid,
    p_source     text
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
as $function$
begin
    return array(
        with recursive drawn (id) as (
            select m.memory_id
              from recall.memory_store as m
             where m.user_id = p_user_id
               and (p_session_id is null or m.source_session_id = p_session_id)
               and (p_source is null or m.source = p_source)
            union
            select n.memory_id
              from drawn as d
              join recall.memory_store as o on o.user_id = p_user_id and o.memory_id = d.id
              join recall.memory_store as n
                on n.user_id = p_user_id
                   and n.source = 'consolidation'
                   and (n.memory_id = o.superseded_by or n.metadata -> 'episodes' ? d.id::text)
        )
        select d.id from drawn as d);
end;
$function$;

comment on function recall._drawn_memories(uuid, uuid, text) is
    'Memories drawn from a session or source, and what was consolidated out of them.';
