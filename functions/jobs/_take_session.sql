-- recall._take_session(user, session) -> the row, locked
-- For one who will update the session in any case: an update that changes nothing needs no further
-- locks for the second, where _lock_session holds one on every leaf besides.
-- Locks   the session.
-- Raises  RC001.
create or replace function recall._take_session(
    p_user_id    uuid,
    p_session_id uuid
)
returns recall.sessions
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_session recall.sessions;
begin
    update recall.sessions as s
       set updated_at = s.updated_at
     where s.user_id    = p_user_id
       and s.session_id = p_session_id
    returning s.* into v_session;

    if not found then
        perform recall._unknown_session(p_session_id);
    end if;
    return v_session;
end;
$function$;

comment on function recall._take_session(uuid, uuid) is
    'Take a session''s row for an update that follows (RC001 when there is none).';
