-- recall.get_user_keys(user) -> the wrapped data keys of a sealed user, none of any other
-- The keys themselves say that a user is sealed, whatever the flag in recall.users says. Only
-- drivers have the wrapping key that opens them. With them comes what a driver must do because the
-- database cannot: send vectors or not, look for secrets.
-- Raises  RC007 a sealed user whose keys are gone.
create or replace function recall.get_user_keys(
    p_user_id uuid
)
returns table (
    key_no          integer,
    wrapped_key     bytea,
    wrapping_key    text,
    has_vectors     boolean,
    secrets         text,
    secret_patterns jsonb,
    is_retired      boolean
)
language plpgsql
stable
parallel safe
security definer
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_settings recall.settings;
begin
    perform recall._check_user(p_user_id);
    v_settings := recall._settings(p_user_id);
    return query
    select k.key_no, k.wrapped_key, k.wrapping_key, recall._has_vectors(p_user_id),
           v_settings.secrets,
           case when v_settings.secrets <> 'keep'
                then recall._pattern_list(v_settings.secret_classes) end,
           k.retired_at is not null
      from recall.user_keys as k
     where k.user_id = p_user_id
     order by k.key_no;
    if not found and recall._is_sealed_user(p_user_id) then
        raise exception using
            errcode = 'RC007',
            message = format('user %s is sealed, and the keys are gone', p_user_id),
            hint    = 'Restore the rows of recall.user_keys from a backup; without them nothing '
                      'of this user can be read.';
    end if;
end;
$function$;

comment on function recall.get_user_keys(uuid) is
    'The wrapped data keys of a sealed user, the name of the key that opens each, and what drivers '
    'have to do: vectors, secrets.';
