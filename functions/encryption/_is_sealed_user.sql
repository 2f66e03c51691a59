-- Tell whether a user is encrypted, by the flag in recall.users or by a data encryption key.
-- A user with keys counts as encrypted even without the flag: one changed row must not expose new
-- texts. Neither is read unless some user was ever encrypted.
create or replace function recall._is_sealed_user(
    p_user_id uuid
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
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
    'Whether a user is encrypted, by the flag or by a data encryption key.';
