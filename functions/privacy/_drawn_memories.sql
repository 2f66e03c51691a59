-- Return all memories drawn from a session and source (NULL: any).
-- Includes ended memories, and what consolidation made of them.
create or replace function recall._drawn_memories(
    p_user_id    uuid,
    p_session_id uuid,
    p_source     text
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    return recall._derived_memories(
        p_user_id,
        array(select m.memory_id
                from recall.memory_store as m
               where m.user_id = p_user_id
                 and (p_session_id is null or m.source_session_id = p_session_id)
                 and (p_source is null or m.source = p_source)),
        false);
end;
$function$;

comment on function recall._drawn_memories(uuid, uuid, text) is
    'Memories drawn from a session or source, and what was consolidated from them.';
