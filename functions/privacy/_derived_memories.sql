-- Return memories and everything that was derived from them.
-- These are consolidations, patterns, and what was derived from those. With disputes, it adds
-- memories that contradict them, and what the audit links to them (_audited_memories). An erasure
-- includes these, because they repeat the text. Revoking a source does not, because they are not
-- part of it.
create or replace function recall._derived_memories(
    p_user_id       uuid,
    p_memory_ids    uuid[],
    p_with_disputes boolean
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_ids     uuid[] := p_memory_ids;
    v_audited uuid[];
    v_more    uuid[];
begin
    loop
        v_audited := recall._audited_memories(p_user_id, v_ids, p_with_disputes);
        v_more := array(
            select m.memory_id
              from recall.memory_store as m
             where m.user_id = p_user_id
               and m.memory_id <> all (v_ids)
               and (p_with_disputes and m.disputes = any (v_ids)
                    or m.memory_id = any (v_audited)
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
    'Memories, what consolidation and patterns derived from them, and on request their disputes.';
