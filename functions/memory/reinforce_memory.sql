-- Record whether a memory that was used has helped, and return whether it was active.
-- Locks   the user.
-- Raises  RC001, RC003.
create or replace function recall.reinforce_memory(
    p_user_id   uuid,
    p_memory_id uuid,
    p_useful    boolean
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
    if p_useful is null then
        raise exception using
            errcode = 'RC003',
            message = 'p_useful is null',
            hint    = 'Pass true or false.';
    end if;
    perform recall._lock_user_and_bump_revision(p_user_id);
    v_memory := recall._read_memory(p_user_id, p_memory_id);
    if v_memory.ended_at is not null then
        return false;
    end if;

    if p_useful then
        v_memory.importance            := 0.9 * v_memory.importance + 0.1;
        v_memory.confidence            := 0.9 * v_memory.confidence + 0.1;
        v_memory.access_count          := v_memory.access_count + 1;
        v_memory.relevance_accumulator := v_memory.relevance_accumulator + 1.0;
        v_memory.last_accessed_at      := greatest(v_now, v_memory.last_accessed_at);
    else
        v_memory.importance := 0.8 * v_memory.importance;
        v_memory.confidence := 0.8 * v_memory.confidence;
        v_memory.relevance_accumulator := greatest(0, v_memory.relevance_accumulator - 1.0);
        if v_memory.confidence < 0.5 then
            v_memory.review_at := least(v_now, v_memory.review_at);
        end if;
    end if;
    v_memory.updated_at := v_now;
    perform recall._update_memory(v_memory);
    perform recall._log_event(p_user_id, p_memory_id, 'reinforced',
                              jsonb_build_object('useful', p_useful));
    return true;
end;
$function$;

comment on function recall.reinforce_memory(uuid, uuid, boolean) is
    'Record whether a memory helped. Useful: an access of relevance 1.0; importance and '
    'confidence move a tenth of the way to 1. Not useful: both lose a fifth, relevance 1.0 is '
    'taken back, and below confidence 0.5 the memory is due for review. False when it was not '
    'active.';
