-- Return the titles and start times of some sessions.
-- A generic plan suffices: callers have already locked the partitions of sessions.
create or replace function recall._session_titles(
    p_user_id     uuid,
    p_session_ids uuid[]
)
returns table (
    session_id uuid,
    title      text,
    created_at timestamptz
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    return query
    select s.session_id, s.title, s.created_at
      from recall.sessions as s
     where s.user_id    = p_user_id
       and s.session_id = any (p_session_ids);
end;
$function$;

comment on function recall._session_titles(uuid, uuid[]) is
    'Titles and start times of some of a user''s sessions.';
