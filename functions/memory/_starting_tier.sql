-- Return the tier of a new memory.
-- Output of a tool or an inference starts at session tier, whatever it claims. An episode starts at
-- episodic tier only if the user spoke in it and no tool did (source conversation). Text that the
-- user implied or confirmed (medium, 0.6) starts at episodic tier, and doubtful text (low, 0.3) at
-- session tier.
create or replace function recall._starting_tier(
    p_source      text,
    p_provenance  recall.provenance,
    p_kind        text,
    p_confidence  real,
    p_is_verbatim boolean,
    p_settings    recall.settings
)
returns recall.memory_tier
language sql
immutable
parallel safe
as $function$
    select case
        when p_is_verbatim then 'session'::recall.memory_tier
        when p_kind = 'episode' and p_provenance <> 'tool_output'
             and p_source not in ('tool', 'inference') then 'episodic'
        when p_provenance >= 'tool_output' then 'session'
        when p_source = 'consolidation' and p_kind = 'pattern' then 'procedural'
        when p_source = 'consolidation' then 'semantic'
        when p_source = 'manual' and p_provenance = 'user_stated' then 'semantic'
        when p_source = 'conversation' and (p_settings).extracted_tier = 'session' then 'session'
        when p_provenance <= 'preference' and p_confidence >= (p_settings).durable_confidence
            then 'semantic'
        when p_provenance <= 'preference' and p_confidence >= 0.5 then 'episodic'
        else 'session'
    end;
$function$;

comment on function recall._starting_tier(text, recall.provenance, text, real, boolean,
    recall.settings) is
    'Tier of a new memory, by source, provenance, kind and confidence.';
