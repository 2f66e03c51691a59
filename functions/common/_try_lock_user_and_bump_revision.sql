-- Lock a user for a change of memories unless another transaction has; return whether it did.
-- For sweeps over many users: false, without waiting, when the row is locked or does not exist. A
-- sweep that never waits for a user can lock several of them without a deadlock.
-- Locks   the user, if no other transaction has locked the row.
create or replace function recall._try_lock_user_and_bump_revision(
    p_user_id uuid
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    perform from recall.users as u
      where u.user_id = p_user_id
        for no key update skip locked;
    if not found then
        return false;
    end if;
    perform recall._lock_user_and_bump_revision(p_user_id);
    return true;
end;
$function$;

comment on function recall._try_lock_user_and_bump_revision(uuid) is
    'Lock a user for a change of memories, unless another transaction has locked the row.';
