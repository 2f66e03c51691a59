-- recall._try_lock_user(user) -> taken?
-- For sweeps over many users: false, at once, when a writer holds the user's row, or when there is
-- none. A sweep that never waits for a user can hold several and still take part in no deadlock.
-- Locks   the user, if he is free.
create or replace function recall._try_lock_user(
    p_user_id uuid
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    perform from recall.users as u
      where u.user_id = p_user_id
        for no key update skip locked;
    if not found then
        return false;
    end if;
    perform recall._lock_user(p_user_id);
    return true;
end;
$function$;

comment on function recall._try_lock_user(uuid) is
    'Take the user''s row for a change of memories unless somebody holds it.';
