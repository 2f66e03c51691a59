-- Return the tier that a memory has earned by p_at, or NULL.
-- Utility (recall._utility) must exceed, and accesses must reach, the settings of the next tier.
-- Output of tools and inferences never rise by use alone. The caller decides between procedural and
-- semantic by kind.
create or replace function recall._promotion_target(
    p_memory   recall.memory_store,
    p_at       timestamptz,
    p_settings recall.settings
)
returns recall.memory_tier
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_is_session constant boolean := p_memory.tier = 'session';
    v_accesses   constant integer := case
        when v_is_session then p_settings.episodic_promotion_accesses
        else p_settings.durable_promotion_accesses
    end;
begin
    if p_memory.tier > 'episodic' or p_memory.provenance >= 'tool_output'
       or p_memory.access_count < v_accesses then
        return null;
    end if;
    return case
        when recall._utility(
                 p_memory, p_at,
                 case when v_is_session then p_settings.episodic_promotion_decay
                      else p_settings.durable_promotion_decay end)
             > case when v_is_session then p_settings.episodic_promotion_utility
                    else p_settings.durable_promotion_utility end
            then case when v_is_session then 'episodic' else 'semantic' end::recall.memory_tier
    end;
end;
$function$;

comment on function recall._promotion_target(recall.memory_store, timestamptz, recall.settings) is
    'Tier that an accessed memory has earned, or NULL.';
