-- Lock a session for share; NULL is no session.
-- For writers of rows that belong to a session: an erasure waits for this lock, and a caller that
-- waited for an erasure gets RC001. Appends do not wait. The caller has locked the user.
-- Locks   the session, for key share.
-- Raises  RC001.
create or replace function recall._lock_session_for_share(
    p_user_id    uuid,
    p_session_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    if p_session_id is null then
        return;
    end if;
    perform from recall.sessions as s
      where s.user_id    = p_user_id
        and s.session_id = p_session_id
        for key share;
    if not found then
        perform recall._unknown_session(p_session_id);
    end if;
end;
$function$;

comment on function recall._lock_session_for_share(uuid, uuid) is
    'Lock a session for share, so that an erasure waits (RC001 when there is none).';
