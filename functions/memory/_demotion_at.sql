-- Return when an episodic memory becomes too weak for its tier.
-- Accesses ÷ hours since the last one must fall below settings.demotion_accesses_per_hour, and the
-- memory must have reached demotion_age. NULL without accesses: such a memory lives until it
-- expires. Stable, because timestamptz plus interval is.
create or replace function recall._demotion_at(
    p_memory   recall.memory_store,
    p_settings recall.settings
)
returns timestamptz
language sql
stable
parallel safe
as $function$
    -- 3.2e11 s (ten thousand years) bounds the time if demotion is off or accesses are many.
    select case
        when (p_memory).tier = 'episodic' and (p_memory).access_count > 0 then greatest(
            (p_memory).created_at + (p_settings).demotion_age,
            (p_memory).last_accessed_at + make_interval(secs => least(
                3600 * (p_memory).access_count / nullif((p_settings).demotion_accesses_per_hour, 0),
                3.2e11)) + interval '1 microsecond')
    end;
$function$;

comment on function recall._demotion_at(recall.memory_store, recall.settings) is
    'When an accessed episodic memory has been idle too long for its accesses.';
