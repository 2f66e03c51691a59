-- recall._is_sealed_user(user) -> is what this user has stored as ciphertext only?
-- Planned for the one leaf, as recall._lock_user has it.
create or replace function recall._is_sealed_user(
    p_user_id uuid
)
returns boolean
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    return coalesce((select u.is_sealed from recall.users as u where u.user_id = p_user_id), false);
end;
$function$;

comment on function recall._is_sealed_user(uuid) is
    'Whether a user is sealed: texts are encrypted by the driver.';
