-- recall._settings(user) -> the settings that hold for this user
-- The row with the user's overrides laid over it. Until some user has any it is but a look at that
-- row: 15 µs, and another 30 for a look at the user, or 100 where that is planned for one leaf.
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
    v_settings := (select s from recall.settings as s);
    if not v_settings.has_overrides then
        return v_settings;
    end if;

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
