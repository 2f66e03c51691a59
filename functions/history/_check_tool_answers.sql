-- recall._check_tool_answers(session, rows)
-- A tool message answers a call of an earlier assistant message, of this batch (whose turns count
-- from 1 here) or of the session.
-- Raises  RC003.
create or replace function recall._check_tool_answers(
    p_session recall.sessions,
    p_rows    recall.conversation_history[]
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_row   recall.conversation_history;
    v_calls jsonb := '[]'::jsonb;
begin
    foreach v_row in array p_rows loop
        v_calls := v_calls || coalesce(v_row.tool_calls, '[]');
        continue when v_row.role <> 'tool'
                      or v_calls @> jsonb_build_array(
                             jsonb_build_object('id', v_row.tool_call_id));
        perform
           from recall.conversation_history as h
          where h.user_id    = p_session.user_id
            and h.session_id = p_session.session_id
            and h.created_at between p_session.created_at and p_session.last_message_at
            and not h.turn_index <@ p_session.retracted_turns
            and h.tool_calls @> jsonb_build_array(
                    jsonb_build_object('id', v_row.tool_call_id))
          order by h.turn_index desc
          limit 1;
        if not found then
            raise exception using
                errcode = 'RC003',
                message = format('messages[%s].tool_call_id %s answers no earlier call',
                                 v_row.turn_index - 1,
                                 quote_literal(left(v_row.tool_call_id, 80))),
                hint    = 'Append the assistant message with that tool call first.';
        end if;
    end loop;
end;
$function$;

comment on function recall._check_tool_answers(recall.sessions, recall.conversation_history[]) is
    'Refuse a tool message that answers no earlier call (RC003).';
