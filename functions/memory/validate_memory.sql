-- Confirm a memory on behalf of a person or an agent, and return whether it was active.
-- A memory that the user stated in one session applies to all from then on (episodic tier). Any
-- other memory still reaches a higher tier by use only.
-- Locks   the user.
-- Raises  RC001.
create or replace function recall.validate_memory(
    p_user_id   uuid,
    p_memory_id uuid
)
returns boolean
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now    timestamptz := clock_timestamp();
    v_memory recall.memory_store;
begin
    perform recall._check_user(p_user_id);
    perform recall._lock_user_and_bump_revision(p_user_id);
    v_memory := recall._read_memory(p_user_id, p_memory_id);
    if v_memory.ended_at is not null then
        return false;
    end if;

    v_memory.is_validated := true;
    v_memory.confidence   := greatest(v_memory.confidence, 0.9);
    v_memory.review_at    := recall._next_review(v_memory.kind, v_now);
    v_memory.updated_at   := v_now;
    -- The call counts as an access, so that a stale memory returns to contexts. Its relevance is
    -- the average of earlier accesses, so that utility does not fall.
    v_memory.relevance_accumulator := v_memory.relevance_accumulator
        + coalesce(v_memory.relevance_accumulator / nullif(v_memory.access_count, 0), 1.0);
    v_memory.access_count          := v_memory.access_count + 1;
    v_memory.last_accessed_at      := greatest(v_now, v_memory.last_accessed_at);
    v_memory := recall._raise_to_episodic(v_memory, v_now, recall._settings(p_user_id));
    perform recall._update_memory(v_memory);
    perform recall._log_event(p_user_id, p_memory_id, 'validated');
    return true;
end;
$function$;

comment on function recall.validate_memory(uuid, uuid) is
    'Confirm a memory: validated, confidence at least 0.9, and its review is due after its '
    'kind''s interval again. A memory of one session that the user stated applies to all. The '
    'call counts as a use. False when it was not active.';
