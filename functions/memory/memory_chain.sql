-- Return every version of a memory, oldest first.
-- The chain holds the memories that it superseded, its successors, and merged memories.
-- Raises  RC001.
create or replace function recall.memory_chain(
    p_user_id   uuid,
    p_memory_id uuid
)
returns setof recall.memory_row
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
as $function$
declare
    v_ids uuid[];
begin
    perform recall._check_user(p_user_id);
    perform recall._read_memory(p_user_id, p_memory_id);
    v_ids := recall._chain_ids(p_user_id, p_memory_id);

    return query
    select c.*
      from recall.memory_store as m
     cross join lateral recall._memory_columns(row(m.*)) as c
     where m.user_id   = p_user_id
       and m.memory_id = any (v_ids)
     order by m.created_at, m.memory_id;
end;
$function$;

comment on function recall.memory_chain(uuid, uuid) is
    'Every version of a memory, oldest first, merged memories included.';
