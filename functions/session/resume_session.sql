-- Accept messages in a session again, also when it was closed or has expired.
-- Locks   the session.
-- Raises  RC001, RC002.
create or replace function recall.resume_session(
    p_user_id    uuid,
    p_session_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._check_user(p_user_id);
    perform recall._set_session_status(p_user_id, p_session_id, 'active',
                                       '{paused,closed,expired}');
end;
$function$;

comment on function recall.resume_session(uuid, uuid) is
    'Accept messages in a session again; also for closed and expired sessions. RC001: the session '
    'does not exist.';
