-- recall.close_session(user, session)
-- Clears the working memory and leaves the last extraction and the summary to a worker.
-- Locks   the session.
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
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now     timestamptz := clock_timestamp();
    v_session recall.sessions;
begin
    perform recall._check_user(p_user_id);
    perform recall._set_session_status(p_user_id, p_session_id, 'closed', '{active,paused}');

    delete from recall.working_memory as w
     where w.user_id    = p_user_id
       and w.session_id = p_session_id;

    v_session := recall._lock_session(p_user_id, p_session_id);
    if v_session.turn_count > v_session.extracted_through_turn then
        perform recall._enqueue_extraction(v_session, v_now);
    end if;
    if v_session.turn_count > 0
       and recall._extraction_mode(v_session, recall._settings(p_user_id)) = 'llm' then
        perform recall.enqueue_job(p_user_id, 'summarize', p_session_id, p_session_id::text);
    end if;
end;
$function$;

comment on function recall.close_session(uuid, uuid) is
    'End a session: working memory is cleared, the last extraction and summary are enqueued.';
