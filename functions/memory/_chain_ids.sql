-- Return the ids of all memories in the chain of a memory.
-- The query follows the successors to the end, then all predecessors of those.
create or replace function recall._chain_ids(
    p_user_id   uuid,
    p_memory_id uuid
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
as $function$
begin
    return array(
        with recursive ahead (id) as (
            select p_memory_id
            union
            select m.superseded_by
              from ahead as a
              join recall.memory_store as m on m.user_id = p_user_id and m.memory_id = a.id
             where m.superseded_by is not null
        ), behind (id) as (
            select a.id from ahead as a
            union
            select m.memory_id
              from behind as b
              join recall.memory_store as m on m.user_id = p_user_id and m.superseded_by = b.id
        )
        select b.id from behind as b);
end;
$function$;

comment on function recall._chain_ids(uuid, uuid) is
    'Ids of all memories that lead to the same end of a chain as this one.';
