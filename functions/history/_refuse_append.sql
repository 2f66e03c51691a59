-- Raise the reason why a session accepts no messages; return if it accepts them by now.
-- Raises  RC001, RC002 closed or paused.
create or replace function recall._refuse_append(
    p_user_id    uuid,
    p_session_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_session recall.sessions := recall._lock_session(p_user_id, p_session_id);
begin
    if v_session.status <> 'active' then
        raise exception using
            errcode = 'RC002',
            message = format('session %s is %s', p_session_id, v_session.status),
            hint    = 'recall.resume_session reopens it.';
    end if;
end;
$function$;

comment on function recall._refuse_append(uuid, uuid) is
    'Raise that a session does not exist (RC001) or is not active (RC002).';
