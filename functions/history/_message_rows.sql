-- recall._message_rows(session, messages, ids, now, settings) -> the rows to insert
-- Raises  RC003 for a created_at too far in the future.
create or replace function recall._message_rows(
    p_session  recall.sessions,
    p_messages jsonb,
    p_ids      uuid[],
    p_now      timestamptz,
    p_settings recall.settings
)
returns recall.conversation_history[]
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_rows recall.conversation_history[];
    v_late timestamptz;
begin
    select array_agg(row(
               p_session.user_id, p_session.session_id, p_session.turn_count + m.ordinal,
               least(coalesce(m.created_at, p_now), p_now), p_ids[m.ordinal], m.role,
               m.content, m.content_parts, m.name, m.tool_calls, m.tool_call_id, m.content_hash,
               m.token_count, m.tokens_estimated,
               coalesce(m.model_id, case when m.role = 'assistant' then p_session.model_id end),
               m.finish_reason, null, null, null, m.latency_ms, m.model_call_id,
               m.metadata)::recall.conversation_history order by m.ordinal),
           max(m.created_at)
      into v_rows, v_late
      from recall._parse_messages(p_messages, p_settings.tokens_per_image) as m;

    if v_late > p_now + p_settings.future_skew then
        raise exception using
            errcode = 'RC003',
            message = format('created_at %s lies in the future', v_late),
            hint    = format('At most %s of skew is taken.', p_settings.future_skew);
    end if;
    return v_rows;
end;
$function$;

comment on function recall._message_rows(recall.sessions, jsonb, uuid[], timestamptz,
    recall.settings) is 'Rows of conversation_history out of judged messages, numbered and dated.';
