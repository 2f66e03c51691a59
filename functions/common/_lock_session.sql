-- Lock a session for update; return the row.
-- Planned once: a plan for one partition would make pause_session 1.5 times as slow.
-- Locks   the session.
-- Raises  RC001.
create or replace function recall._lock_session(
    p_user_id    uuid,
    p_session_id uuid
)
returns recall.sessions
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_session recall.sessions;
begin
    select s.*
      into v_session
      from recall.sessions as s
     where s.user_id    = p_user_id
       and s.session_id = p_session_id
       for no key update;

    if not found then
        perform recall._unknown_session(p_session_id);
    end if;
    return v_session;
end;
$function$;

comment on function recall._lock_session(uuid, uuid) is
    'Lock a session for update and return the row (RC001 when there is none).';
