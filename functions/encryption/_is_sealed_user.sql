-- recall._is_sealed_user(user) -> boolean
-- Tell whether all texts of a user are ciphertext. A user with data keys counts as encrypted even
-- when the flag in recall.users says otherwise: one changed row must not expose new texts. Both are
-- looked for only where somebody was ever sealed.
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
    if not (select s.has_sealed_users from recall.settings as s) then
        return false;
    end if;
    return (recall._read_user(p_user_id)).is_sealed is true
           or exists (select from recall.user_keys as k where k.user_id = p_user_id);
end;
$function$;

comment on function recall._is_sealed_user(uuid) is
    'Whether a user is sealed, by the flag or by a data key: texts are encrypted by the driver.';
