-- Pause a session: reject messages until `resume_session`.
-- Locks   the session.
-- Raises  RC001, RC002.
create or replace function recall.pause_session(
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
    perform recall._set_session_status(p_user_id, p_session_id, 'paused', '{active}');
end;
$function$;

comment on function recall.pause_session(uuid, uuid) is
    'Pause a session: it rejects messages until resume_session. RC001: the session does not '
    'exist. RC002: the session is closed or expired.';
