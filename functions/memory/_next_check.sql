-- Return when a sweep must look at a memory, the earliest of four times; NULL: never.
--   its expiry;
--   half the grace before that, when its session may have moved on;
--   for an episodic row, when it has been idle too long for its accesses;
--   for an unimportant row without an expiry, when it has been idle for decay_idle.
-- An access postpones the last two, so the time may be too early, never too late. The sweep checks
-- again.
create or replace function recall._next_check(
    p_memory   recall.memory_store,
    p_after    timestamptz,
    p_settings recall.settings
)
returns timestamptz
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_ahead constant interval := p_settings.session_memory_grace / 2;
    v_check timestamptz       := p_memory.expires_at;
begin
    if p_memory.follows_session and isfinite(v_check) and v_check - v_ahead > p_after then
        v_check := v_check - v_ahead;
    end if;
    v_check := least(v_check, recall._demotion_at(p_memory, p_settings));
    if p_memory.expires_at is null and p_memory.importance < p_settings.decay_importance then
        v_check := least(v_check,
                         coalesce(p_memory.last_accessed_at, p_memory.created_at)
                         + p_settings.decay_idle);
    end if;
    return v_check;
end;
$function$;

comment on function recall._next_check(recall.memory_store, timestamptz, recall.settings) is
    'When expire_memories or decay_memories must look at a memory.';
