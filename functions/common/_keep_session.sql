-- recall._keep_session(user, session)
-- For who writes rows of a session without taking it: it stays until the transaction ends, since
-- forgetting waits for this lock, and who waited for a forgetting finds none. Appends do not wait.
-- The caller holds the user. NULL is no session.
-- Locks   the session, shared.
-- Raises  RC001.
create or replace function recall._keep_session(
    p_user_id    uuid,
    p_session_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
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

comment on function recall._keep_session(uuid, uuid) is
    'Keep a session from being forgotten until the transaction ends (RC001 when there is none).';
