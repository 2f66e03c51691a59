-- Read the message of the user that started the current turn.
-- It is the last user message of the session, compacted or not, read from the end by the primary
-- key.
create or replace function recall._current_task(
    p_request recall.context_request
)
returns recall.current_task
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_session constant recall.sessions := p_request.session;
    v_task    recall.current_task;
begin
    select h.turn_index, h.message_id,
           recall._message_json(h.role::text, h.content, h.content_parts, h.name, null, null),
           h.token_count, null::integer
      into v_task
      from recall.conversation_history as h
     where h.user_id    = v_session.user_id
       and h.session_id = v_session.session_id
       and h.created_at between v_session.created_at
                        and least(v_session.last_message_at, p_request.as_of)
       and h.turn_index <= coalesce((p_request.options ->> 'through_turn')::integer,
                                   v_session.turn_count)
       and not h.turn_index <@ v_session.retracted_turns
       and h.role = 'user'
     order by h.turn_index desc
     limit 1;
    return v_task;
end;
$function$;

comment on function recall._current_task(recall.context_request) is
    'The last message of the user in a session, a row of NULLs without one.';
