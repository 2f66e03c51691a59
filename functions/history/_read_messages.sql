-- recall._read_messages(user, session, messages, ids, settings) -> rows, and what is in them
-- The messages of an append, judged and parsed in one pass. It comes before the session is locked:
-- turn_index counts from 1 here, a time that was not given is missing, as is the session's model
-- (recall._insert_messages). Of usage_place is the last assistant message, else the last message.
-- Raises  RC003.
create or replace function recall._read_messages(
    p_user_id       uuid,
    p_session_id    uuid,
    p_messages      jsonb,
    p_ids           uuid[],
    p_settings      recall.settings,
    out messages    recall.conversation_history[],
    out given_from  timestamptz,
    out given_until timestamptz,
    out has_undated boolean,
    out token_count bigint,
    out user_turns  integer,
    out has_tools   boolean,
    out usage_place integer
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    -- The fence (offset) lets a row be made once, not once a sum.
    select array_agg(r.message order by r.ordinal),
           min((r.message).created_at),
           max((r.message).created_at),
           bool_or((r.message).created_at is null),
           sum((r.message).token_count),
           count(*) filter (where (r.message).role = 'user'),
           bool_or((r.message).role = 'tool'),
           coalesce(max(r.ordinal) filter (where (r.message).role = 'assistant'), max(r.ordinal))
      into messages, given_from, given_until, has_undated, token_count, user_turns, has_tools,
           usage_place
      from (
            select m.ordinal,
                   case when m.problem is null then row(
                       p_user_id, p_session_id, m.ordinal, m.created_at, p_ids[m.ordinal], m.role,
                       m.content, m.content_parts, m.name, m.tool_calls, m.tool_call_id,
                       m.content_hash, m.token_count, m.tokens_estimated, m.model_id,
                       m.finish_reason, null, null, null, m.latency_ms, m.model_call_id,
                       m.metadata)::recall.conversation_history end as message
              from recall._parse_messages(p_messages, p_settings.tokens_per_image) as m
            offset 0
           ) as r;

    if array_position(messages, null) is not null then
        perform recall._check_messages(p_messages);
    end if;
end;
$function$;

comment on function recall._read_messages(uuid, uuid, jsonb, uuid[], recall.settings) is
    'Rows of conversation_history out of messages, not yet numbered and dated, and their sums.';
