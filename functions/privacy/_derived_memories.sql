-- recall._derived_memories(user, memories, with_disputes) -> these and what was made of them
-- What consolidation put in their place (merges), patterns over them, and what was made of those.
-- With disputes also what contradicted them, refused claims too, which the audit alone connects: it
-- repeats what it contradicts, so it is forgotten with it; but it is no part of a source that is
-- revoked.
create or replace function recall._derived_memories(
    p_user_id       uuid,
    p_memory_ids    uuid[],
    p_with_disputes boolean
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_ids     uuid[] := p_memory_ids;
    v_refused uuid[] := '{}'::uuid[];
    v_more    uuid[];
begin
    loop
        if p_with_disputes then
            v_refused := recall._refused_claims(p_user_id, v_ids);
        end if;
        v_more := array(
            select m.memory_id
              from recall.memory_store as m
             where m.user_id = p_user_id
               and m.memory_id <> all (v_ids)
               and (p_with_disputes and m.disputes = any (v_ids)
                    or m.memory_id = any (v_refused)
                    or (m.kind = 'pattern' or m.source = 'consolidation')
                       and m.metadata -> 'episodes' ?| v_ids::text[]
                    or m.source = 'consolidation' and exists (
                           select from recall.memory_store as p
                            where p.user_id       = p_user_id
                              and p.superseded_by = m.memory_id
                              and p.memory_id     = any (v_ids))));
        exit when v_more = '{}';
        v_ids := v_ids || v_more;
    end loop;
    return v_ids;
end;
$function$;

comment on function recall._derived_memories(uuid, uuid[], boolean) is
    'Memories and what merges, patterns and, if wanted, disputes made of them.';
