-- recall._history_window(session, after_turn, as_of, budget, settings) -> the newest turns that fit
-- A descending loop that stops at the budget; by the settings below it comes out of the index in
-- that order, since a sort would first read the whole session. A tool message stays with the call
-- it answers; a call whose answers are missing is left out with them. Arrays run from the newest
-- turn to the oldest: its id, its message for the API, cumulative tokens up to and with its
-- exchange, and the tokens of the session that lie before it (which do not change when turns are
-- appended).
create or replace function recall._history_window(
    p_session        recall.sessions,
    p_after_turn     integer,
    p_as_of          timestamptz,
    p_budget         bigint,
    p_settings       recall.settings,
    out o_turns      integer[],
    out o_ids        uuid[],
    out o_messages   jsonb[],
    out o_cumulative bigint[],
    out o_position   bigint[],
    out o_is_cut     boolean
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
    v_row      record;
    v_turns    integer[] := '{}'::integer[];
    v_ids      uuid[]    := '{}'::uuid[];
    v_messages jsonb[]   := '{}'::jsonb[];
    v_answers  text[]    := '{}'::text[];
    v_used     bigint    := 0;
    v_cost     bigint    := 0;
    v_before   bigint    := p_session.active_tokens;
begin
    o_turns      := '{}'::integer[];
    o_ids        := '{}'::uuid[];
    o_messages   := '{}'::jsonb[];
    o_cumulative := '{}'::bigint[];
    o_position   := '{}'::bigint[];
    o_is_cut     := false;

    -- The plain message stands here, since a call for each of many costs more than the JSON.
    for v_row in
        select h.turn_index, h.message_id, h.token_count, h.tool_calls, h.tool_call_id,
               recall._message_cost(h, p_settings.tokens_per_message) as cost,
               case when h.content is not null and h.name is null and h.tool_calls is null
                         and h.tool_call_id is null
                    then jsonb_object(array['role', h.role::text, 'content', h.content])
                    else recall._message_json(h) end as message
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
        v_cost   := v_cost + v_row.cost;
        if v_row.tool_call_id is not null then
            v_turns    := v_turns || v_row.turn_index;
            v_ids      := v_ids || v_row.message_id;
            v_messages := v_messages || v_row.message;
            v_answers  := v_answers || v_row.tool_call_id;
            continue;
        end if;

        -- Answers without their call, or a call without all its answers, are nothing one may send.
        if v_row.tool_calls is not null or v_answers <> '{}' then
            if not recall._is_whole_exchange(v_row.tool_calls, v_answers) then
                v_turns    := '{}'::integer[];
                v_ids      := '{}'::uuid[];
                v_messages := '{}'::jsonb[];
                v_answers  := '{}'::text[];
                v_cost     := 0;
                continue when v_row.tool_calls is not null;
                v_cost     := v_row.cost;
            end if;
        end if;

        if v_used + v_cost > p_budget then
            o_is_cut := true;
            exit;
        end if;
        v_used := v_used + v_cost;
        v_cost := 0;
        for i in 1 .. cardinality(v_answers) loop
            o_turns      := o_turns || v_turns[i];
            o_ids        := o_ids || v_ids[i];
            o_messages   := o_messages || v_messages[i];
            o_cumulative := o_cumulative || v_used;
            o_position   := o_position || v_before;
        end loop;
        o_turns      := o_turns || v_row.turn_index;
        o_ids        := o_ids || v_row.message_id;
        o_messages   := o_messages || v_row.message;
        o_cumulative := o_cumulative || v_used;
        o_position   := o_position || v_before;
        if v_turns <> '{}' then
            v_turns    := '{}'::integer[];
            v_ids      := '{}'::uuid[];
            v_messages := '{}'::jsonb[];
            v_answers  := '{}'::text[];
        end if;
    end loop;
end;
$function$;

comment on function recall._history_window(recall.sessions, integer, timestamptz, bigint,
    recall.settings) is
    'The newest whole exchanges of a session within a token budget, newest first.';
