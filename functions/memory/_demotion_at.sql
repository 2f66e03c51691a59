-- recall._demotion_at(memory, settings) -> from when on an episodic memory is too weak for its tier
-- Accesses ÷ hours since the last one fall below settings.demotion_accesses_per_hour, but not
-- before it has some age. NULL when it was never accessed: then it lives its life. Switched off, or
-- with an access count far from use, it is too weak in ten thousand years. Stable, as in
-- recall._content_hash: a time plus an interval is.
create or replace function recall._demotion_at(
    p_memory   recall.memory_store,
    p_settings recall.settings
)
returns timestamptz
language sql
stable
parallel safe
as $function$
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
