-- End one memory, and return whether it was active.
-- The row stays readable for as_of and the audit; recall.forget_memory deletes it.
-- Locks   the user, the jobs.
-- Raises  RC001.
create or replace function recall.retract_memory(
    p_user_id   uuid,
    p_memory_id uuid,
    p_reason    text default null
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
    perform recall._check_text(p_reason, 'p_reason', 10000);
    p_reason := recall._guard_text(p_reason, recall._settings(p_user_id), 'p_reason');
    perform recall._lock_user_and_bump_revision(p_user_id);
    v_memory := recall._read_memory(p_user_id, p_memory_id);
    if v_memory.ended_at is not null then
        return false;
    end if;

    perform recall._end_memory(v_memory, 'retracted', clock_timestamp(),
                               p_detail => jsonb_build_object('reason', p_reason));
    return true;
end;
$function$;

comment on function recall.retract_memory(uuid, uuid, text) is
    'End one memory without deleting it. False when it was not active.';
