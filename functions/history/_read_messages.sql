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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_first_id   uuid    := recall.uuidv7();
    v_ids        uuid[];
    v_empty      recall.conversation_history;
    v_row        recall.conversation_history;
    v_rows       recall.conversation_history[] := array[]::recall.conversation_history[];
    v_message    jsonb;
    v_is_dated   boolean := true;
    v_until      timestamptz;
    v_batch      recall.message_batch;
begin
    if jsonb_typeof(p_messages) is distinct from 'array' or p_messages = '[]' then
        perform recall._check_messages(p_messages);
    end if;
    if p_settings.has_sealed_users then
        perform recall._check_messages(p_messages);
        v_ids := recall._sealed_message_ids(p_user_id, p_messages);
    end if;

    -- Concatenation decompresses a list from a table once, instead of for each message.
    p_messages          := p_messages || '[]';
    v_empty.user_id     := p_user_id;
    v_empty.session_id  := p_session_id;
    v_empty.metadata    := '{}';
    v_batch.turns       := jsonb_array_length(p_messages);
    v_batch.usage_place := v_batch.turns;
    v_batch.user_turns  := 0;
    v_batch.token_count := 0;
    v_batch.has_tools   := false;
    -- A loop, since PostgreSQL prepares all of a statement at every call: two statements that
    -- judged and converted the messages took 16 % of an append more.
    for v_number in 1 .. v_batch.turns loop
        v_message := p_messages -> (v_number - 1);
        if recall._is_plain_message(v_message) then
            v_row := jsonb_populate_record(v_empty, v_message);
        else
            if recall._judge_message(v_message) is not null then
                perform recall._check_messages(p_messages);
            end if;
            v_row := recall._parse_message(v_empty, v_message);
        end if;
        -- One expression for all four: only a long name costs a call.
        if greatest(octet_length(v_row.model_id), octet_length(v_row.finish_reason),
                    octet_length(v_row.name), octet_length(v_row.tool_call_id)) > 200
           or v_row.model_id = '' then
            perform recall._check_message_names(v_row, v_number - 1);
        end if;
        v_row.turn_index       := v_number;
        v_row.message_id       := coalesce(v_ids[v_number],
                                           recall._following_uuid(v_first_id, v_number - 1));
        v_row.content_hash     := recall._message_hash(v_message);
        v_row.tokens_estimated := v_row.token_count is null;
        if v_row.content_parts is not null and v_row.tool_calls is null
           and recall._shown_parts(v_row.content_parts) is null then
            v_row.token_count := 0;
        elsif v_row.tokens_estimated then
            v_row.token_count := recall._estimate_message_tokens(
                v_row.content, v_row.content_parts, v_row.name, v_row.tool_calls,
                p_settings.tokens_per_image);
        end if;
        v_rows := v_rows || v_row;

        v_batch.token_count := v_batch.token_count + v_row.token_count;
        if v_row.role = 'user' then
            v_batch.user_turns := v_batch.user_turns + 1;
        elsif v_row.role = 'assistant' then
            v_batch.usage_place := v_number;
        elsif v_row.role = 'tool' then
            v_batch.has_tools := true;
        end if;
        if v_row.created_at is null then
            v_is_dated := false;
        else
            v_batch.first_at := least(v_batch.first_at, v_row.created_at);
            v_until          := greatest(v_until, v_row.created_at);
        end if;
    end loop;

    if v_until > p_now + p_settings.future_skew then
        raise exception using
            errcode = 'RC003',
            message = format('created_at %s lies in the future', v_until),
            hint    = format('It may lie at most %s in the future.', p_settings.future_skew);
    end if;
    v_batch.first_at := least(v_batch.first_at, p_now);
    v_batch.last_at  := least(case when v_is_dated then v_until end, p_now);
    v_batch.messages := v_rows;
    return v_batch;
end;
$function$;

comment on function recall._read_messages(uuid, uuid, jsonb, recall.settings, timestamptz) is
    'The messages of an append as rows, not yet numbered and dated, and their totals.';
