-- Return the tier that a memory has earned by p_at, or NULL.
-- Utility (recall._utility) must exceed v_utility, and accesses must reach the setting of the tier.
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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_is_session constant boolean := p_memory.tier = 'session';
    v_accesses   constant integer := case
        when v_is_session then p_settings.episodic_promotion_accesses
        else p_settings.durable_promotion_accesses
    end;
    v_utility    constant double precision := case when v_is_session then 0.3 else 0.5 end;
    v_decay      constant double precision := case when v_is_session then 0.01 else 0.001 end;
begin
    if p_memory.tier > 'episodic' or p_memory.provenance >= 'tool_output'
       or p_memory.access_count < v_accesses then
        return null;
    end if;
    return case
        when recall._utility(p_memory, p_at, v_decay) > v_utility
            then case when v_is_session then 'episodic' else 'semantic' end::recall.memory_tier
    end;
end;
$function$;

comment on function recall._promotion_target(recall.memory_store, timestamptz, recall.settings) is
    'Tier that an accessed memory has earned, or NULL.';
