-- Remove memories that will be deleted from their version chains.
-- Predecessors then point to the successor; without a successor they end without one. The caller
-- has locked the user.
create or replace function recall._unlink_memories(
    p_user_id    uuid,
    p_memory_ids uuid[]
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_linked uuid[];
begin
    loop
        with linked as (
            update recall.memory_store as m
               set superseded_by = d.superseded_by,
                   end_reason    = case
                                       when d.superseded_by is null
                                            and m.end_reason in ('superseded', 'merged')
                                           then 'retracted'
                                       else m.end_reason
                                   end
              from recall.memory_store as d
             where m.user_id       = p_user_id
               and m.memory_id    <> all (p_memory_ids)
               and m.superseded_by = any (p_memory_ids)
               and d.user_id       = p_user_id
               and d.memory_id     = m.superseded_by
            returning m.memory_id
        )
        select coalesce(array_agg(l.memory_id), '{}') into v_linked from linked as l;
        exit when v_linked = '{}';
        perform recall._log_events(p_user_id, v_linked, 'unlinked');
    end loop;
end;
$function$;

comment on function recall._unlink_memories(uuid, uuid[]) is
    'Remove memories that will be deleted from their version chains.';
