-- Move a session's extraction cursor, and enqueue another extraction when more turns wait.
-- The caller has locked the session, so no turn that is committed in between is missed.
create or replace function recall._advance_extraction(
    p_session recall.sessions,
    p_through integer
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_now        timestamptz := clock_timestamp();
    v_user_turns integer;
    v_cursor     bytea;
begin
    select count(*) filter (where h.role = 'user'),
           (array_agg(h.content_hash order by h.turn_index desc))[1]
      into v_user_turns, v_cursor
      from recall.conversation_history as h
     where h.user_id    = p_session.user_id
       and h.session_id = p_session.session_id
       and h.created_at between p_session.created_at and p_session.last_message_at
       and h.turn_index > p_session.extracted_through_turn
       and h.turn_index <= p_through;

    update recall.sessions as s
       set extracted_through_turn = p_through,
           extracted_user_turns   = s.extracted_user_turns + v_user_turns,
           extraction_cursor      = coalesce(v_cursor, s.extraction_cursor),
           updated_at             = v_now
     where s.user_id    = p_session.user_id
       and s.session_id = p_session.session_id;

    if p_session.turn_count > p_through then
        perform recall._enqueue_extraction(p_session, v_now);
    end if;
end;
$function$;

comment on function recall._advance_extraction(recall.sessions, integer) is
    'Move a session''s extraction cursor and enqueue again when more turns wait.';
