-- Return the settings of a user with the overrides of a context's options.
create or replace function recall._context_settings(
    p_user_id uuid,
    p_options jsonb
)
returns recall.settings
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_settings recall.settings := recall._settings(p_user_id);
begin
    v_settings.scoring    := coalesce(p_options ->> 'scoring', v_settings.scoring);
    v_settings.decay_mode := coalesce(p_options ->> 'decay_mode', v_settings.decay_mode);
    return v_settings;
end;
$function$;

comment on function recall._context_settings(uuid, jsonb) is
    'Settings of the user, with scoring and decay_mode from the options of a context.';
