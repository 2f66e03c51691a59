-- Return memories that repeat the text of these, where only the audit shows the link.
-- A restored part of a consolidation no longer points to it. With disputes, it adds settled claims,
-- which no longer name the memory that they contradicted, and rows that one of these restores.
create or replace function recall._audited_memories(
    p_user_id       uuid,
    p_memory_ids    uuid[],
    p_with_disputes boolean
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return array(
        select m.memory_id
          from recall.memory_events as e
          join recall.memory_store as m
            on m.user_id   = e.user_id
           and m.memory_id = (e.detail ->> 'instead_of')::uuid
         where e.user_id   = p_user_id
           and e.event     = 'followed'
           and e.memory_id = any (p_memory_ids)
           and m.source    = 'consolidation'
         union all
        select e.memory_id
          from recall.memory_events as e
         where p_with_disputes
           and e.user_id = p_user_id
           and e.event in ('dispute_refused', 'dispute_accepted')
           and e.detail ->> 'disputes' = any (p_memory_ids::text[])
         union all
        select (e.detail ->> 'restores')::uuid
          from recall.memory_events as e
         where p_with_disputes
           and e.user_id   = p_user_id
           and e.event     = 'restored'
           and e.memory_id = any (p_memory_ids));
end;
$function$;

comment on function recall._audited_memories(uuid, uuid[], boolean) is
    'Memories that repeat the text of these, where only the audit shows the link.';
