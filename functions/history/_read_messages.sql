-- Check the messages of an append, and return them as rows with their totals.
-- It runs before the session is locked: turn_index counts from 1, created_at and model_id are NULL
-- unless given. usage_place is the index of the last assistant message, else of the last message.
-- Raises  RC003.
create or replace function recall._read_messages(
    p_user_id    uuid,
    p_session_id uuid,
    p_messages   jsonb,
    p_settings   recall.settings,
    p_now        timestamptz
)
returns recall.message_batch
language plpgsql
volatile
parallel safe
set search_path from current
as $function$
declare
    v_until    timestamptz;
    v_first_id uuid := recall.uuidv7();
    v_ids      uuid[];
    v_batch    recall.message_batch;
begin
    perform recall._check_messages(p_messages);
    if p_settings.has_sealed_users then
        v_ids := recall._sealed_message_ids(p_user_id, p_messages);
    end if;

    select array_agg(m::recall.conversation_history),
           count(*),
           least(min(m.created_at), p_now),
           least(case when bool_and(m.created_at is not null) then max(m.created_at) end, p_now),
           max(m.created_at),
           bool_or(m.role = 'tool'),
           sum(m.token_count),
           count(*) filter (where m.role = 'user'),
           coalesce(max(m.turn_index) filter (where m.role = 'assistant'), count(*))
      into v_batch.messages, v_batch.turns, v_batch.first_at, v_batch.last_at, v_until,
           v_batch.has_tools, v_batch.token_count, v_batch.user_turns, v_batch.usage_place
      from (
            select p.*
              from recall._parse_messages(p_user_id, p_session_id, p_messages, v_first_id, v_ids,
                                          p_settings.tokens_per_image) as p
            offset 0  -- so that no aggregate computes a column again
           ) as m;
    if v_until > p_now + p_settings.future_skew then
        raise exception using
            errcode = 'RC003',
            message = format('created_at %s lies in the future', v_until),
            hint    = format('It may lie at most %s in the future.', p_settings.future_skew);
    end if;
    return v_batch;
end;
$function$;

comment on function recall._read_messages(uuid, uuid, jsonb, recall.settings, timestamptz) is
    'The messages of an append as rows, not yet numbered and dated, and their totals.';
