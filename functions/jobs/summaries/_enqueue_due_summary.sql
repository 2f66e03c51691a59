-- Enqueue a session's rolling summary when it is due.
-- It is due every settings.summarize_after_turns user turns.
create or replace function recall._enqueue_due_summary(
    p_session  recall.sessions,
    p_through  integer,
    p_settings recall.settings
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_user_turns integer;
begin
    if recall._summaries_mode(p_session, p_settings) <> 'llm' then
        return;
    end if;
    select count(*)
      into v_user_turns
      from recall.conversation_history as h
     where h.user_id    = p_session.user_id
       and h.session_id = p_session.session_id
       and h.created_at between p_session.created_at and p_session.last_message_at
       and h.turn_index > coalesce((
               select max(s.to_turn)
                 from recall.session_summaries as s
                where s.user_id    = p_session.user_id
                  and s.session_id = p_session.session_id
                  and s.kind       = 'rolling'
                  and s.ended_at is null), 0)
       and h.turn_index <= p_through
       and h.role = 'user';

    if v_user_turns >= p_settings.summarize_after_turns then
        perform recall._enqueue_job(p_session.user_id, 'summarize', p_session.session_id,
                                    p_session.session_id::text);
    end if;
end;
$function$;

comment on function recall._enqueue_due_summary(recall.sessions, integer, recall.settings) is
    'Enqueue a session''s rolling summary when settings.summarize_after_turns user turns wait for '
    'it.';
