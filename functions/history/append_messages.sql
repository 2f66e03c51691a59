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
    v_rows     recall.conversation_history[];
    v_batch    record;
    v_usage    record;
    v_place    integer;
    v_ids      uuid[];
    v_now      timestamptz;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_messages(p_messages);
    v_settings := recall._settings(p_user_id);
    p_messages := recall._guard_secrets(p_messages, v_settings, 'p_messages');
    v_ids      := recall._uuids(jsonb_array_length(p_messages));

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
    v_now  := greatest(clock_timestamp(), v_session.last_message_at);
    v_rows := recall._message_rows(v_session, p_messages, v_ids, v_now, v_settings);

    v_usage := recall._read_usage(p_usage, v_session.model_id, v_rows);
    if v_usage.turn_index is not null then
        v_place := v_usage.turn_index - v_session.turn_count;
        v_rows[v_place].prompt_tokens     := v_usage.prompt_tokens;
        v_rows[v_place].completion_tokens := v_usage.completion_tokens;
        v_rows[v_place].cost_microcents   := v_usage.cost_microcents;
        v_rows[v_place].latency_ms        := coalesce(v_rows[v_place].latency_ms,
                                                      v_usage.latency_ms);
        if v_usage.is_unpriced then
            v_rows[v_place].metadata := v_rows[v_place].metadata || '{"unpriced_model": true}';
        end if;
    end if;

    select min(r.created_at) as first_at, max(r.created_at) as last_at,
           sum(r.token_count) as tokens,
           count(*) filter (where r.role = 'user') as user_turns,
           bool_or(r.role = 'tool') as has_tools
      into v_batch
      from unnest(v_rows) as r;

    if v_batch.has_tools then
        perform recall._check_tool_answers(v_session, v_rows);
    end if;
    if v_batch.first_at < v_settings.history_from or v_batch.last_at >= v_settings.history_until
       or v_settings.history_from is null then
        perform recall._ensure_history_months(p_user_id, v_rows);
    end if;

    perform recall._insert_messages(v_rows);

    update recall.sessions as s
       set turn_count              = s.turn_count + cardinality(v_rows),
           user_turn_count         = s.user_turn_count + v_batch.user_turns,
           active_tokens           = s.active_tokens + v_batch.tokens,
           compaction_due          = s.compaction_due or s.active_tokens + v_batch.tokens
                                                         > 2 * s.context_window_size::bigint,
           total_prompt_tokens     = s.total_prompt_tokens + coalesce(v_usage.prompt_tokens, 0),
           total_completion_tokens = s.total_completion_tokens
                                     + coalesce(v_usage.completion_tokens, 0),
           total_cost_microcents   = s.total_cost_microcents
                                     + coalesce(v_usage.cost_microcents, 0),
           created_at              = least(s.created_at, v_batch.first_at),
           last_message_at         = greatest(s.last_message_at, v_batch.last_at),
           updated_at              = v_now,
           expires_at              = greatest(s.expires_at, recall._session_expiry(
                                         v_now, coalesce(s.expires_in, v_settings.session_ttl)))
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;

    perform recall._enqueue_turn_work(
        v_session, v_settings, v_now, v_batch.last_at,
        v_session.user_turn_count + v_batch.user_turns::integer - v_session.extracted_user_turns,
        v_session.active_tokens + v_batch.tokens);

    return query
    select r.message_id, r.turn_index, true from unnest(v_rows) as r order by r.turn_index;
end;
$function$;

comment on function recall.append_messages(uuid, uuid, jsonb, jsonb, uuid) is
    'Append OpenAI messages to a session; each may add token_count, created_at, model_id, '
    'finish_reason, latency_ms, metadata. Usage: prompt_tokens, completion_tokens, cached_tokens, '
    'latency_ms, cost_microcents. Repeatable by request id.';
