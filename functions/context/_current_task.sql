-- Read the message of the user that started the current turn.
-- It is the last user message of the session, compacted or not, read from the end by the primary
-- key.
create or replace function recall._current_task(
    p_session   recall.sessions,
    p_as_of     timestamptz,
    p_last_turn integer
)
returns recall.current_task
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_task recall.current_task;
begin
    select h.turn_index, h.message_id,
           recall._message_json(h.role::text, h.content, h.content_parts, h.name, null, null),
           h.token_count, null::integer
      into v_task
      from recall.conversation_history as h
     where h.user_id    = p_session.user_id
       and h.session_id = p_session.session_id
       and h.created_at between p_session.created_at
                        and least(p_session.last_message_at, p_as_of)
       and h.turn_index <= coalesce(p_last_turn, p_session.turn_count)
       and not h.turn_index <@ p_session.retracted_turns
       and h.role = 'user'
     order by h.turn_index desc
     limit 1;
    return v_task;
end;
$function$;

comment on function recall._current_task(recall.sessions, timestamptz, integer) is
    'The last message of the user in a session, a row of NULLs without one.';
