-- Close a session: clear its working memory, and enqueue the last extraction and summary.
-- Memories of this session alone expire after settings.session_memory_grace.
-- Locks   the user, then the session.
-- Raises  RC001, RC002.
create or replace function recall.close_session(
    p_user_id    uuid,
    p_session_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now      timestamptz := clock_timestamp();
    v_settings recall.settings;
    v_session  recall.sessions;
begin
    perform recall._check_user(p_user_id);
    perform recall._lock_user_and_bump_revision(p_user_id);
    v_settings := recall._settings(p_user_id);
    perform recall._set_session_status(p_user_id, p_session_id, 'closed', '{active,paused}');

    delete from recall.working_memory as w
     where w.user_id    = p_user_id
       and w.session_id = p_session_id;

    perform recall._end_session_memories(p_user_id, p_session_id,
                                         v_now + v_settings.session_memory_grace);

    v_session := recall._lock_session(p_user_id, p_session_id);
    perform recall._enqueue_last_work(v_session, v_settings, v_now, true);
end;
$function$;

comment on function recall.close_session(uuid, uuid) is
    'Close a session: clear its working memory, and enqueue the last extraction and summary. '
    'RC001: the session does not exist. RC002: the session has expired.';
