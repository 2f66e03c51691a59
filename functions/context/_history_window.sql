-- recall._history_window(session, after_turn, as_of, budget, settings) -> the newest turns that fit
-- A descending loop that stops at the budget. A tool message stays with the call it answers; a
-- call whose answers are missing is left out with them. Arrays run from the newest row to the
-- oldest: cumulative tokens up to and with the row's exchange, and the tokens of the session that
-- lie before it (which do not change when turns are appended).
create or replace function recall._history_window(
    p_session        recall.sessions,
    p_after_turn     integer,
    p_as_of          timestamptz,
    p_budget         bigint,
    p_settings       recall.settings,
    out o_rows       recall.conversation_history[],
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
as $function$
declare
    v_row    recall.conversation_history;
    v_group  recall.conversation_history[] := '{}'::recall.conversation_history[];
    v_used   bigint := 0;
    v_cost   bigint := 0;
    v_before bigint := p_session.active_tokens;
begin
    o_rows       := '{}'::recall.conversation_history[];
    o_cumulative := '{}'::bigint[];
    o_position   := '{}'::bigint[];
    o_is_cut     := false;

    for v_row in
        select h.*
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
        v_cost   := v_cost + recall._message_cost(v_row, p_settings);
        if v_row.role = 'tool' then
            v_group := v_group || v_row;
            continue;
        end if;

        -- Answers without their call, or a call without all its answers, are nothing one may send.
        if v_row.tool_calls is not null or v_group <> '{}' then
            if not recall._is_whole_exchange(v_group || v_row) then
                v_group := '{}'::recall.conversation_history[];
                v_cost  := 0;
                continue when v_row.tool_calls is not null;
                v_cost  := recall._message_cost(v_row, p_settings);
            end if;
        end if;

        if v_used + v_cost > p_budget then
            o_is_cut := true;
            exit;
        end if;
        v_used := v_used + v_cost;
        for i in 1 .. cardinality(v_group) loop
            o_rows       := o_rows || v_group[i];
            o_cumulative := o_cumulative || v_used;
            o_position   := o_position || v_before;
        end loop;
        o_rows       := o_rows || v_row;
        o_cumulative := o_cumulative || v_used;
        o_position   := o_position || v_before;
        v_group      := '{}'::recall.conversation_history[];
        v_cost       := 0;
    end loop;
end;
$function$;

comment on function recall._history_window(recall.sessions, integer, timestamptz, bigint,
    recall.settings) is
    'The newest whole exchanges of a session within a token budget, newest first.';
