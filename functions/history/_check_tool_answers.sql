-- Reject a tool message that does not answer an open call.
-- It answers the latest call with its id, in this batch or in the last settings.answer_within_turns
-- turns, neither compacted nor retracted. A call has one answer.
-- Raises  RC003.
create or replace function recall._check_tool_answers(
    p_session  recall.sessions,
    p_rows     recall.conversation_history[],
    p_settings recall.settings
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_before  constant integer := p_session.turn_count - cardinality(p_rows);
    v_row     recall.conversation_history;
    v_calls   text[] := '{}'::text[];
    v_answers text[] := '{}'::text[];
    v_ids     text[];
    v_is_call boolean;
    v_problem text;
begin
    foreach v_row in array p_rows loop
        -- A repeated call id can be answered again.
        if v_row.tool_calls is not null then
            v_ids     := array(select c.call ->> 'id'
                                 from jsonb_array_elements(v_row.tool_calls) as c (call));
            v_calls   := v_calls || v_ids;
            v_answers := array(select a.id from unnest(v_answers) as a (id)
                                where a.id <> all (v_ids));
        end if;
        continue when v_row.role <> 'tool';

        if v_row.tool_call_id = any (v_answers) then
            v_is_call := false;
        elsif v_row.tool_call_id = any (v_calls) then
            v_is_call := true;
        else
            select h.tool_calls is not null
              into v_is_call
              from recall.conversation_history as h
             where h.user_id    = p_session.user_id
               and h.session_id = p_session.session_id
               and h.created_at between p_session.created_at and p_session.last_message_at
               and h.turn_index > greatest(
                       p_session.compacted_through_turn,
                       v_before + v_row.turn_index - 1 - p_settings.answer_within_turns)
               and not h.turn_index <@ p_session.retracted_turns
               and (h.tool_call_id = v_row.tool_call_id
                    or h.tool_calls @> jsonb_build_array(
                           jsonb_build_object('id', v_row.tool_call_id)))
             order by h.turn_index desc
             limit 1;
        end if;
        v_problem := case when v_is_call is null then 'answers no earlier call'
                          when not v_is_call then 'answers a call that has its answer' end;
        if v_problem is not null then
            raise exception using
                errcode = 'RC003',
                message = format('messages[%s].tool_call_id %s %s', v_row.turn_index - 1,
                                 quote_literal(left(v_row.tool_call_id, 80)), v_problem),
                hint    = format('A tool message follows the assistant message with its call, '
                                 'within %s turns and before that call is compacted, and '
                                 'answers it once.', p_settings.answer_within_turns);
        end if;
        v_answers := v_answers || v_row.tool_call_id;
    end loop;
end;
$function$;

comment on function recall._check_tool_answers(recall.sessions, recall.conversation_history[],
    recall.settings) is
    'Reject a tool message without a call, or for a call that has an answer (RC003).';
