-- recall.append_messages(user, session, messages, usage, request_id)
-- One short transaction for a turn: lock the session, give out turn indexes, insert the messages,
-- add usage and cost, leave work for the workers. A call repeated with its request id answers the
-- same again. A missing month is made on the spot: a missed cron must never lose a message.
-- Locks   the receipt, then the session.
-- Raises  RC001, RC002 closed, RC003 malformed, or a secret, RC008 the request id with another
--         payload.
create or replace function recall.append_messages(
    p_user_id    uuid,
    p_session_id uuid,
    p_messages   jsonb,
    p_usage      jsonb default null,
    p_request_id uuid  default null
)
returns table (
    message_id uuid,
    turn_index integer,
    inserted   boolean
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
set plan_cache_mode = force_generic_plan
set timezone = 'UTC'
as $function$
declare
    v_settings recall.settings;
    v_session  recall.sessions;
    v_batch    record;
    v_rows     recall.conversation_history[];
    v_answer   recall.conversation_history;
    v_ids      uuid[];
    v_now      timestamptz;
    v_first_at timestamptz;
    v_last_at  timestamptz;
begin
    perform recall._check_user(p_user_id);
    v_settings := recall._settings(p_user_id);
    p_messages := recall._guard_secrets(p_messages, v_settings, 'p_messages');
    if jsonb_typeof(p_messages) is distinct from 'array' or p_messages = '[]' then
        perform recall._check_messages(p_messages);
    end if;
    v_ids := recall._uuids(jsonb_array_length(p_messages));
    if v_settings.has_sealed_users then
        v_ids := recall._sealed_message_ids(p_user_id, p_messages, v_ids);
    end if;
    v_batch := recall._read_messages(p_user_id, p_session_id, p_messages, v_ids, v_settings);
    v_rows  := v_batch.messages;

    if p_request_id is not null
       and not recall._write_receipt(p_user_id, p_session_id, p_request_id, v_ids,
                                     p_messages, p_usage) then
        return query
        select r.message_id, r.turn_index, false
          from recall._read_receipt(p_user_id, p_session_id, p_request_id) as r;
        return;
    end if;

    -- The lock comes before the clock, so that created_at never runs backwards.
    v_session := recall._lock_session(p_user_id, p_session_id);
    if v_session.status <> 'active' then
        raise exception using
            errcode = 'RC002',
            message = format('session %s is %s', p_session_id, v_session.status),
            hint    = 'recall.resume_session takes it back.';
    end if;
    v_now      := greatest(clock_timestamp(), v_session.last_message_at);
    v_first_at := least(v_batch.given_from, v_now);
    v_last_at  := case when v_batch.has_undated then v_now
                       else least(v_batch.given_until, v_now) end;
    if v_batch.given_until > v_now + v_settings.future_skew then
        raise exception using
            errcode = 'RC003',
            message = format('created_at %s lies in the future', v_batch.given_until),
            hint    = format('At most %s of skew is taken.', v_settings.future_skew);
    end if;
    if v_batch.has_tools then
        perform recall._check_tool_answers(v_session, v_rows);
    end if;
    if (v_settings.history_from <= v_first_at and v_last_at < v_settings.history_until)
       is not true then
        perform recall._ensure_history_months(p_user_id, v_rows, v_now);
    end if;

    if p_usage <> 'null' then
        v_answer := recall._with_usage(v_rows[v_batch.usage_place], p_usage, v_session.model_id);
        v_rows[v_batch.usage_place] := v_answer;
    end if;
    perform recall._insert_messages(v_session, v_rows, v_now);

    update recall.sessions as s
       set turn_count              = s.turn_count + cardinality(v_ids),
           user_turn_count         = s.user_turn_count + v_batch.user_turns,
           active_tokens           = s.active_tokens + v_batch.token_count,
           compaction_due          = s.compaction_due or s.active_tokens + v_batch.token_count
                                                         > 2 * s.context_window_size::bigint,
           total_prompt_tokens     = s.total_prompt_tokens + coalesce(v_answer.prompt_tokens, 0),
           total_completion_tokens = s.total_completion_tokens
                                     + coalesce(v_answer.completion_tokens, 0),
           total_cost_microcents   = s.total_cost_microcents
                                     + coalesce(v_answer.cost_microcents, 0),
           created_at              = least(s.created_at, v_first_at),
           last_message_at         = greatest(s.last_message_at, v_last_at),
           updated_at              = v_now,
           expires_at              = greatest(s.expires_at, recall._session_expiry(
                                         v_now, coalesce(s.expires_in, v_settings.session_ttl)))
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;

    perform recall._enqueue_turn_work(
        v_session, v_settings, v_now, v_last_at,
        v_session.user_turn_count + v_batch.user_turns - v_session.extracted_user_turns,
        v_session.active_tokens + v_batch.token_count);

    for v_number in 1 .. cardinality(v_ids) loop
        message_id := v_ids[v_number];
        turn_index := v_session.turn_count + v_number;
        inserted   := true;
        return next;
    end loop;
end;
$function$;

comment on function recall.append_messages(uuid, uuid, jsonb, jsonb, uuid) is
    'Append OpenAI messages to a session; each may add token_count, created_at, model_id, '
    'finish_reason, latency_ms, metadata. Usage: prompt_tokens, completion_tokens, cached_tokens, '
    'latency_ms, cost_microcents. Repeatable by request id.';
