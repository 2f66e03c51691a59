-- Append messages to a session and enqueue the work they cause.
-- One short transaction counts the turns, which locks the session and assigns turn indexes, then
-- stores the receipt and the messages. A call repeated with its request id meets the receipt, is
-- rolled back to its start and returns the first result. A missing month is created on demand, so
-- that a missed cron run loses no message.
-- Locks   the session, then the receipt.
-- Raises  RC001, RC002 closed, RC003 malformed, or a secret, RC008 the request id with another
--         session or payload. In repeatable read: 40001, the session or request id used meanwhile.
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
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set timezone = 'UTC'
as $function$
declare
    v_settings    recall.settings;
    v_session     recall.sessions;
    v_batch       recall.message_batch;
    v_usage       recall.call_usage;
    v_now         timestamptz := clock_timestamp();
    v_before      integer;
    v_is_repeated boolean     := false;
    v_is_healed   boolean     := false;
    v_constraint  text;
begin
    -- The user first: within one statement an upgrade could drop the other checks meanwhile.
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_messages, 'p_messages', 64, 2147483647),
            recall._check_json(p_usage, 'p_usage');
    v_settings := recall._settings(p_user_id);
    -- A byte of jsonb has at most 34 characters of JSON (_check_message_sizes). #> '{}' is there to
    -- decompress a value from a table.
    if pg_column_size(p_messages #> '{}') > v_settings.message_max_characters / 34 then
        perform recall._check_message_sizes(p_user_id, p_messages, v_settings);
    end if;
    if v_settings.secrets <> 'keep' then
        p_messages := recall._guard_secrets(p_messages, v_settings, 'p_messages');
    end if;
    v_batch := recall._read_messages(p_user_id, p_session_id, p_messages, v_settings, v_now);
    v_usage := recall._read_usage(p_usage);
    if v_usage.prompt_tokens is not null and v_usage.cost_microcents is null then
        v_usage.cost_microcents := recall._turn_cost(
            p_user_id, p_session_id, v_batch.messages[v_batch.usage_place].model_id, v_usage);
    end if;

    loop
        begin
            v_session := recall._add_turns(
                p_user_id, p_session_id, v_batch.turns, v_batch.user_turns, v_batch.token_count,
                v_batch.first_at, v_batch.last_at, v_now, v_settings.session_ttl,
                v_usage);
            if v_session.session_id is null then
                v_is_repeated := recall._is_repeated(p_user_id, p_session_id, p_request_id,
                                                     p_messages, p_usage);
                exit when v_is_repeated;
                perform recall._refuse_append(p_user_id, p_session_id);
                continue;
            end if;

            v_now := greatest(v_now, v_session.last_message_at);
            if p_request_id is not null then
                insert into recall.append_receipts (user_id, request_id, session_id, payload_digest,
                                                    from_turn, to_turn, created_at)
                values (p_user_id, p_request_id, p_session_id,
                        recall._payload_digest(p_messages, p_usage),
                        v_session.turn_count - v_batch.turns + 1, v_session.turn_count,
                        date_trunc('minute', v_now) + interval '1 minute');
            end if;
            if v_batch.has_tools then
                perform recall._check_tool_answers(v_session, v_batch.messages, v_settings);
            end if;
            if (v_settings.history_from <= v_batch.first_at
                and v_now < v_settings.history_until) is not true then
                perform recall._ensure_history_months(p_user_id, v_batch.messages, v_now);
            end if;
            v_before := recall._insert_messages(v_session, v_batch.messages, v_batch.usage_place,
                                                v_usage, v_now);
            exit;
        exception
            when unique_violation then
                v_is_repeated := recall._is_repeated(p_user_id, p_session_id, p_request_id,
                                                     p_messages, p_usage);
                if not v_is_repeated then
                    perform recall._refuse_unseen_request(p_request_id);
                    raise;
                end if;
                exit;
            when check_violation then
                get stacked diagnostics v_constraint = constraint_name;
                if v_constraint <> '' or v_is_healed then
                    raise;
                end if;
                v_is_healed := true;
                perform recall._ensure_history_months(p_user_id, v_batch.messages, v_now, true);
        end;
    end loop;

    if v_is_repeated then
        return query
        select r.message_id, r.turn_index, false
          from recall._read_receipt(p_user_id, p_session_id, p_request_id) as r;
        return;
    end if;
    perform recall._enqueue_turn_work(v_session, v_settings, v_now, v_batch.last_at);
    for v_number in 1 .. v_batch.turns loop
        message_id := v_batch.messages[v_number].message_id;
        turn_index := v_before + v_number;
        inserted   := true;
        return next;
    end loop;
end;
$function$;

comment on function recall.append_messages(uuid, uuid, jsonb, jsonb, uuid) is
    'Append OpenAI messages to a session; each may add token_count, created_at, model_id, '
    'finish_reason, latency_ms, metadata. Usage: prompt_tokens, completion_tokens, cached_tokens, '
    'latency_ms, cost_microcents. A call repeated with its request id returns the first result; '
    'message_id is null for a message that was erased since. RC001: the session does not exist. '
    'RC002: the session takes no messages. RC003: a malformed message, or a secret. RC008: the '
    'request id was used with another session or payload.';
