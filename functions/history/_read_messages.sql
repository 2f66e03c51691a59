-- recall._read_messages(user, session, messages, settings, now) -> rows, and what is in them
-- The messages of an append, judged and parsed before the session is locked: turn_index counts
-- from 1 here, a time that was not given is missing, as is the session's model. Of usage_place is
-- the last assistant message, else the last message.
-- What is not but text is left to a statement that knows everything: most of what a statement over
-- two messages costs is getting its expressions ready, used or not (0.1 ms there).
-- Raises  RC003.
create or replace function recall._read_messages(
    p_user_id       uuid,
    p_session_id    uuid,
    p_messages      jsonb,
    p_settings      recall.settings,
    p_now           timestamptz,
    out messages    recall.conversation_history[],
    out first_at    timestamptz,
    out last_at     timestamptz,
    out turns       integer,
    out user_turns  integer,
    out token_count bigint,
    out has_tools   boolean,
    out usage_place integer
)
language plpgsql
volatile
parallel safe
set search_path from current
as $function$
declare
    v_until    timestamptz;
    v_first_id uuid := recall.uuidv7();
    v_ids      uuid[];
begin
    if jsonb_typeof(p_messages) is distinct from 'array' or p_messages = '[]' then
        perform recall._check_messages(p_messages);
    end if;
    turns := jsonb_array_length(p_messages);
    if p_settings.has_sealed_users then
        v_ids := recall._sealed_message_ids(p_user_id, p_messages);
    end if;

    -- The fences (offset) let a row be made once, not once a sum.
    if recall._is_plain_list(p_messages) then
        select array_agg(m.message), p_now, p_now, false, sum((m.message).token_count),
               count(*) filter (where (m.message).role = 'user'),
               coalesce(max(m.ordinal) filter (where (m.message).role = 'assistant'), turns)
          into messages, first_at, last_at, has_tools, token_count, user_turns, usage_place
          from (
                select p.ordinal, p.message
                  from recall._plain_messages(p_user_id, p_session_id, p_messages,
                                               v_first_id, v_ids) as p
                offset 0
               ) as m;
        if array_position(messages, null) is null then
            return;
        end if;
    end if;

    select array_agg(r.message order by r.ordinal),
           least(min((r.message).created_at), p_now),
           least(case when bool_and((r.message).created_at is not null)
                      then max((r.message).created_at) end, p_now),
           max((r.message).created_at),
           bool_or((r.message).role = 'tool'),
           sum((r.message).token_count),
           count(*) filter (where (r.message).role = 'user'),
           coalesce(max(r.ordinal) filter (where (r.message).role = 'assistant'), turns)
      into messages, first_at, last_at, v_until, has_tools, token_count, user_turns, usage_place
      from (
            select m.ordinal,
                   case when m.problem is null then row(
                       p_user_id, p_session_id, m.ordinal, m.created_at,
                       coalesce(v_ids[m.ordinal],
                                recall._following_uuid(v_first_id, m.ordinal - 1)),
                       m.role, m.content, m.content_parts, m.name, m.tool_calls,
                       m.tool_call_id, m.content_hash, m.token_count, m.tokens_estimated,
                       m.model_id, m.finish_reason, null, null, null, m.latency_ms,
                       m.model_call_id, m.metadata)::recall.conversation_history end as message
              from recall._parse_messages(p_messages, p_settings.tokens_per_image) as m
            offset 0
           ) as r;
    if array_position(messages, null) is not null then
        perform recall._check_messages(p_messages);
    end if;
    if v_until > p_now + p_settings.future_skew then
        raise exception using
            errcode = 'RC003',
            message = format('created_at %s lies in the future', v_until),
            hint    = format('At most %s of skew is taken.', p_settings.future_skew);
    end if;
end;
$function$;

comment on function recall._read_messages(uuid, uuid, jsonb, recall.settings, timestamptz) is
    'Rows of conversation_history out of messages, not yet numbered and dated, and their sums.';
