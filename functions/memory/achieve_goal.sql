-- recall.achieve_goal(user, memory) -> was it active?
-- The goal keeps its row, with little importance and metadata.achieved_at; no review is due.
-- Locks   the user.
-- Raises  RC001, RC003 no goal.
create or replace function recall.achieve_goal(
    p_user_id   uuid,
    p_memory_id uuid
)
returns boolean
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
as $function$
declare
    v_now    timestamptz := clock_timestamp();
    v_memory recall.memory_store;
begin
    perform recall._check_user(p_user_id);
    perform recall._lock_user(p_user_id);
    v_memory := recall._read_memory(p_user_id, p_memory_id);
    if v_memory.kind <> 'goal' then
        raise exception using
            errcode = 'RC003',
            message = format('memory %s is a %s, not a goal', p_memory_id, v_memory.kind),
            hint    = 'Only memories of kind goal can be achieved.';
    end if;
    if v_memory.ended_at is not null then
        return false;
    end if;

    if not v_memory.metadata ? 'achieved_at' then
        v_memory.importance := least(v_memory.importance,
                                     (recall._settings(p_user_id)).achieved_goal_importance);
        v_memory.metadata   := v_memory.metadata || jsonb_build_object('achieved_at', v_now);
        v_memory.review_at  := null;
        v_memory.updated_at := v_now;
        perform recall._update_memory(v_memory);
        perform recall._log_event(p_user_id, p_memory_id, 'achieved');
    end if;
    return true;
end;
$function$;

comment on function recall.achieve_goal(uuid, uuid) is
    'Mark a goal as achieved: it stays, with little importance. False when it was not active.';
