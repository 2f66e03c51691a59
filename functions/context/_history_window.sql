-- recall._history_window(session, after_turn, as_of, budget, tokens_per_message) -> newest turns
-- A descending loop that stops at the budget; by the settings below it comes out of the index in
-- that order, since a sort would first read the whole session. A message costs its count, what the
-- provider adds to each, and the id that a tool message carries. A tool message stays with the call
-- it answers; a call whose answers are missing is left out with them. Arrays run from the newest
-- turn to the oldest: its id, its message for the API, cumulative tokens up to and with its
-- exchange, and the tokens of the session that lie before it (which do not change when turns are
-- appended).
create or replace function recall._history_window(
    p_session            recall.sessions,
    p_after_turn         integer,
    p_as_of              timestamptz,
    p_budget             bigint,
    p_tokens_per_message integer,
    out o_turns      integer[],
    out o_ids        uuid[],
    out o_messages   jsonb[],
    out o_cumulative bigint[],
    out o_position   bigint[],
    out o_is_cut     boolean,
    out o_is_sealed  boolean
)
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
set max_parallel_workers_per_gather = 0
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set constraint_exclusion = off
set jit = off
as $function$
declare
    v_row     record;
    v_message jsonb;
    v_answers text[];
    v_used    bigint  := 0;
    v_cost    bigint  := 0;
    v_before  bigint  := p_session.active_tokens;
begin
    o_turns      := '{}'::integer[];
    o_ids        := '{}'::uuid[];
    o_messages   := '{}'::jsonb[];
    o_cumulative := '{}'::bigint[];
    o_position   := '{}'::bigint[];
    o_is_cut     := false;
    o_is_sealed  := false;

    -- Messages become JSON below, since more rows are fetched than fit, and each expression here
    -- would be planned at every call.
    for v_row in
        select h.turn_index, h.message_id, h.token_count, h.role::text, h.content,
               h.content_parts, h.name, h.tool_calls, h.tool_call_id
          from recall.conversation_history as h
         where h.user_id    = p_session.user_id
           and h.session_id = p_session.session_id
           and h.created_at between p_session.created_at
                            and least(p_session.last_message_at, p_as_of)
           and h.turn_index > p_after_turn
           and not h.turn_index <@ p_session.retracted_turns
         order by h.turn_index desc
    loop
        v_before := v_before - v_row.token_count;
        v_cost   := v_cost + v_row.token_count + p_tokens_per_message;
        -- A plain message by itself, since what takes all costs three times as much.
        if v_row.content is null or v_row.name is not null or v_row.tool_calls is not null
           or v_row.tool_call_id is not null then
            v_message := recall._message_json(
                v_row.role, v_row.content, v_row.content_parts, v_row.name, v_row.tool_calls,
                v_row.tool_call_id);
        else
            v_message := jsonb_object(array['role', v_row.role, 'content', v_row.content]);
        end if;
        if starts_with(v_row.content, 'sealed:v1:') then
            o_is_sealed := true;
        end if;

        if v_row.tool_call_id is not null then
            v_cost     := v_cost + octet_length(v_row.tool_call_id);
            v_answers  := v_answers || v_row.tool_call_id;
            o_turns    := o_turns || v_row.turn_index;
            o_ids      := o_ids || v_row.message_id;
            o_messages := o_messages || v_message;
            continue;
        end if;

        -- Answers without their call, or a call without all its answers, are nothing one may send.
        if v_row.tool_calls is not null or v_answers is not null then
            if not recall._is_whole_exchange(v_row.tool_calls, coalesce(v_answers, '{}')) then
                o_turns    := o_turns[1:cardinality(o_cumulative)];
                o_ids      := o_ids[1:cardinality(o_cumulative)];
                o_messages := o_messages[1:cardinality(o_cumulative)];
                v_answers  := null;
                v_cost     := 0;
                continue when v_row.tool_calls is not null;
                v_cost     := v_row.token_count + p_tokens_per_message;
            end if;
        end if;

        if v_used + v_cost > p_budget then
            o_is_cut := true;
            exit;
        end if;
        v_used     := v_used + v_cost;
        v_cost     := 0;
        o_turns    := o_turns || v_row.turn_index;
        o_ids      := o_ids || v_row.message_id;
        o_messages := o_messages || v_message;
        for i in 0 .. coalesce(cardinality(v_answers), 0) loop
            o_cumulative := o_cumulative || v_used;
            o_position   := o_position || v_before;
        end loop;
        v_answers := null;
    end loop;
    -- Answers whose call does not fit, or was not read.
    if v_answers is not null then
        o_turns    := o_turns[1:cardinality(o_cumulative)];
        o_ids      := o_ids[1:cardinality(o_cumulative)];
        o_messages := o_messages[1:cardinality(o_cumulative)];
    end if;
end;
$function$;

comment on function recall._history_window(recall.sessions, integer, timestamptz, bigint, integer)
    is 'The newest whole exchanges of a session within a token budget, newest first.';
