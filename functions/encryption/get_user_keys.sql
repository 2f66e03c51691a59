-- Return the wrapped data encryption keys of an encrypted user; no rows for other users.
-- A row in user_keys marks a user as encrypted, whatever the flag in recall.users says. Only
-- drivers hold the key encryption key. The result also tells the driver whether to send vectors and
-- how to treat secrets.
-- Raises  RC007 an encrypted user whose keys are gone.
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
set search_path to pg_catalog, recall, pg_temp
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
            message = format('user %s is encrypted, and their keys are missing', p_user_id),
            hint    = 'Restore the rows of recall.user_keys from a backup; without them nothing '
                      'of this user can be read.';
    end if;
end;
$function$;

comment on function recall.get_user_keys(uuid) is
    'The wrapped data encryption keys of an encrypted user, the name of the key encryption key of '
    'each, and the driver''s duties: whether to send vectors, how to treat secrets. No rows for '
    'other users. RC007: the user is encrypted, but the keys are gone.';
