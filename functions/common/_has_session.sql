-- Tell whether a user has this session.
-- The query is planned for one partition: a cached plan would lock all of them.
create or replace function recall._has_session(
    p_user_id    uuid,
    p_session_id uuid
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return exists (
        select from recall.sessions as s
         where s.user_id    = p_user_id
           and s.session_id = p_session_id);
end;
$function$;

comment on function recall._has_session(uuid, uuid) is 'Whether a session belongs to this user.';
