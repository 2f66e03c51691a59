-- Check that the driver knows the oldest and the newest of the user's keys in use.
-- Slots, tags and tasks are compared as ciphertext. A driver that lacks a new key would find none
-- of them and report no result. It would also encrypt with the old key while that is being
-- exchanged.
-- Raises  RC006 these are not the oldest and the newest of the user's keys in use.
create or replace function recall._check_user_key(
    p_user_id uuid,
    p_keys    text
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_keys text := (
        select format('%s %s', min(k.key_no), max(k.key_no))
          from recall.user_keys as k
         where k.user_id = p_user_id
           and k.retired_at is null);
begin
    if v_keys <> p_keys then
        raise exception using
            errcode = 'RC006',
            message = format('the keys of user %s have been replaced', p_user_id),
            hint    = 'Read them with recall.get_user_keys, and encrypt the texts with them.';
    end if;
end;
$function$;

comment on function recall._check_user_key(uuid, text) is
    'Reject a call encrypted without knowledge of all of the user''s keys (RC006).';
