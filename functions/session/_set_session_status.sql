-- Change the status of a session; do nothing if it has that status already.
-- Locks   the session.
-- Raises  RC001, RC002 when the transition is not allowed.
create or replace function recall._set_session_status(
    p_user_id    uuid,
    p_session_id uuid,
    p_status     recall.session_status,
    p_from       recall.session_status[]
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now        timestamptz     := clock_timestamp();
    v_session    recall.sessions := recall._lock_session(p_user_id, p_session_id);
    v_life       interval        := v_session.expires_in;
    v_expires_at timestamptz     := v_session.expires_at;
begin
    if v_session.status = p_status then
        return;
    end if;
    if v_session.status <> all (p_from) then
        raise exception using
            errcode = 'RC002',
            message = format('session %s is %s, it cannot become %s', p_session_id,
                             v_session.status, p_status),
            hint    = 'recall.resume_session reopens paused, closed and expired sessions.';
    end if;

    if p_status = 'active' then
        if v_life is null then
            v_life := (recall._settings(p_user_id)).session_ttl;
        end if;
        v_expires_at := greatest(v_expires_at, recall._session_expiry(v_now, v_life));
    end if;

    update recall.sessions as s
       set status     = p_status,
           updated_at = v_now,
           expires_at = v_expires_at
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;
end;
$function$;

comment on function recall._set_session_status(uuid, uuid, recall.session_status,
    recall.session_status[]) is
    'Change the status of a session (RC002 when the transition is not allowed).';
