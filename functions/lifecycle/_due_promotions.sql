-- Find memories that are flagged for promotion, by user, behind a memory.
-- The settings below force the index, as in recall._due_memories.
create or replace function recall._due_promotions(
    p_after_user   uuid,
    p_after_memory uuid,
    p_limit        integer
)
returns table (
    user_id    uuid,
    memory_ids uuid[]
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $function$
begin
    return query
    select d.user_id, array_agg(d.memory_id order by d.memory_id)
      from (
            select m.user_id, m.memory_id
              from recall.memory_store as m
             where m.promotion_due
               and m.ended_at is null
               and (m.user_id, m.memory_id) > (p_after_user, p_after_memory)
             order by m.user_id, m.memory_id
             limit p_limit
           ) as d
     group by d.user_id
     order by d.user_id;
end;
$function$;

comment on function recall._due_promotions(uuid, uuid, integer) is
    'Memories that an access took across a threshold of promotion, by user.';
