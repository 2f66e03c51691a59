-- Mark a goal as achieved, and return whether it was active.
-- The row stays active with low importance and metadata.achieved_at, and no review is due.
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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_memory recall.memory_store;
begin
    perform recall._check_user(p_user_id);
    perform recall._lock_user_and_bump_revision(p_user_id);
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

    perform recall._achieve_goal(v_memory);
    return true;
end;
$function$;

comment on function recall.achieve_goal(uuid, uuid) is
    'Mark a goal as achieved: it stays active with low importance, without a review. False when '
    'it was not active. RC003 when the memory is not a goal.';
