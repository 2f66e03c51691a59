-- Tell whether any message of a session has annotations.
create or replace function recall._has_annotations(
    p_user_id    uuid,
    p_session_id uuid
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    return exists (
        select from recall.message_annotations as n
         where n.user_id    = p_user_id
           and n.session_id = p_session_id);
end;
$function$;

comment on function recall._has_annotations(uuid, uuid) is
    'Whether a message of a session has annotations.';
