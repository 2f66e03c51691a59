-- Return title and last activity of all sessions of the user.
-- The generic plan, as in recall._session_titles, avoids locks on the indexes of the partition.
create or replace function recall._session_headings(
    p_user_id uuid
)
returns table (
    session_id uuid,
    title      text,
    active_at  timestamptz
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    return query
    select s.session_id, s.title, coalesce(s.last_message_at, s.created_at)
      from recall.sessions as s
     where s.user_id = p_user_id;
end;
$function$;

comment on function recall._session_headings(uuid) is
    'All sessions of a user: title and last activity.';
