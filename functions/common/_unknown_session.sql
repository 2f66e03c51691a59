-- Raise the error for a session that the user does not have.
-- The error is the same for another user's session.
-- Raises  RC001, always.
create or replace function recall._unknown_session(
    p_session_id uuid
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    raise exception using
        errcode = 'RC001',
        message = format('this user has no session %s', coalesce(p_session_id::text, 'null')),
        hint    = 'recall.list_sessions lists the sessions of a user.';
end;
$function$;

comment on function recall._unknown_session(uuid) is 'Raise RC001: the user has no such session.';
