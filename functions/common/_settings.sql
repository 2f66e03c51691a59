-- recall._settings(user) -> the settings that hold for this user
-- The row with the user's overrides laid over it; most users have none, and then it costs two
-- look-ups.
create or replace function recall._settings(
    p_user_id uuid
)
returns recall.settings
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_settings  recall.settings;
    v_overrides jsonb;
begin
    select s.* into v_settings from recall.settings as s;

    select u.overrides
      into v_overrides
      from recall.users as u
     where u.user_id = p_user_id
       and u.overrides <> '{}';

    if found then
        v_settings := jsonb_populate_record(v_settings, v_overrides);
    end if;
    return v_settings;
end;
$function$;

comment on function recall._settings(uuid) is 'The settings row with the user''s overrides.';
