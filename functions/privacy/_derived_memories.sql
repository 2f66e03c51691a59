-- recall._derived_memories(user, memories) -> these and what was made of them
-- Merges of them, patterns over them, and what contradicted them.
create or replace function recall._derived_memories(
    p_user_id    uuid,
    p_memory_ids uuid[]
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_ids  uuid[] := p_memory_ids;
    v_more uuid[];
begin
    loop
        v_more := array(
            select m.memory_id
              from recall.memory_store as m
             where m.user_id = p_user_id
               and m.memory_id <> all (v_ids)
               and (m.disputes = any (v_ids)
                    or m.kind = 'pattern' and m.metadata -> 'episodes' ?| v_ids::text[]
                    or m.source = 'consolidation' and exists (
                           select from recall.memory_store as p
                            where p.user_id       = p_user_id
                              and p.superseded_by = m.memory_id
                              and p.end_reason    = 'merged'
                              and p.memory_id     = any (v_ids))));
        exit when v_more = '{}';
        v_ids := v_ids || v_more;
    end loop;
    return v_ids;
end;
$function$;

comment on function recall._derived_memories(uuid, uuid[]) is
    'Memories and what merges, patterns and disputes made of them.';
