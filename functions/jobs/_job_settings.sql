-- recall._job_settings(user) -> the settings that hold for this user
-- As _settings, out of the row that a job's effect holds in any case: a job reads many partitioned
-- tables, and a look-up of its own locks this one once more.
-- Locks   the user, when there is one.
create or replace function recall._job_settings(
    p_user_id uuid
)
returns recall.settings
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_overrides jsonb := (recall._hold_user(p_user_id)).overrides;
    v_settings  recall.settings;
begin
    select s.* into v_settings from recall.settings as s;
    return jsonb_populate_record(v_settings, coalesce(v_overrides, '{}'));
end;
$function$;

comment on function recall._job_settings(uuid) is
    'The settings row with the user''s overrides, for the effect of a job; holds the user.';
