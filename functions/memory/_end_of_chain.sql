-- Return the last memory of a chain, active or not.
-- A change to a superseded memory applies to its successor.
-- Raises  RC001.
create or replace function recall._end_of_chain(
    p_user_id   uuid,
    p_memory_id uuid
)
returns recall.memory_store
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_memory recall.memory_store := recall._read_memory(p_user_id, p_memory_id);
begin
    while v_memory.superseded_by is not null loop
        v_memory := recall._read_memory(p_user_id, v_memory.superseded_by);
    end loop;
    return v_memory;
end;
$function$;

comment on function recall._end_of_chain(uuid, uuid) is
    'Follow a memory''s successors to the last one.';
