-- recall._count_memories(user, change)
-- Keeps users.active_memory_count; the caller holds the user's row. Planned as in _lock_user.
create or replace function recall._count_memories(
    p_user_id uuid,
    p_change  integer
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    update recall.users as u
       set active_memory_count = u.active_memory_count + p_change
     where u.user_id = p_user_id;
end;
$function$;

comment on function recall._count_memories(uuid, integer) is
    'Add to the user''s count of active memories.';
