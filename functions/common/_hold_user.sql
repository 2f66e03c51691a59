-- recall._hold_user(user) -> the row, locked; NULLs when there is none
-- Keeps other writers of the user's memories, and his forgetting, waiting. An update that changes
-- nothing, with a plan for the one leaf: it holds no lock that _lock_user does not hold after it,
-- where a generic plan locks every leaf and a select takes locks of its own.
-- Locks   the user, when there is one.
create or replace function recall._hold_user(
    p_user_id uuid
)
returns recall.users
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_user recall.users;
begin
    update recall.users as u
       set memory_revision = u.memory_revision
     where u.user_id = p_user_id
    returning u.* into v_user;
    return v_user;
end;
$function$;

comment on function recall._hold_user(uuid) is 'Take the user''s row, as it is.';
