-- Lock a user for update; return the row, NULLs when there is none.
-- Writers of the user's memories wait, and so does an erasure. It updates the row to itself with a
-- plan for one partition: a generic plan locks every partition, and SELECT FOR UPDATE takes
-- relation locks that _lock_user_and_bump_revision does not need after it.
-- Locks   the user, when there is one.
create or replace function recall._lock_user_for_update(
    p_user_id uuid
)
returns recall.users
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
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

comment on function recall._lock_user_for_update(uuid) is
    'Lock a user for update and return the row; NULLs when there is none.';
