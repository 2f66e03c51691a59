-- recall._job_settings(user) -> the settings that hold for this user
-- As _settings, planned for the one leaf: a job reads many partitioned tables, and a generic plan
-- locks every leaf of each.
create or replace function recall._job_settings(
    p_user_id uuid
)
returns recall.settings
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    return recall._settings(p_user_id);
end;
$function$;

comment on function recall._job_settings(uuid) is
    'The settings row with the user''s overrides, for a job.';
