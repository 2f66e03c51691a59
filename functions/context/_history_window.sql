-- Read the newest exchanges of a session that fit a budget.
-- An exchange is a message, or calls with all of their answers and the texts between them. A call
-- without an answer, or an answer without its call, goes to o_left. The loop stops at the budget;
-- arrays may hold rows beyond o_cumulative, which do not fit. enable_sort is off because a sort
-- would first read the whole session.
create or replace function recall._history_window(
    p_session            recall.sessions,
    p_after_turn         integer,
    p_as_of              timestamptz,
    p_budget             bigint,
    p_tokens_per_message integer,
    p_last_turn          integer,
    p_with_task          boolean,
    out o_turns      integer[],
    out o_ids        uuid[],
    out o_messages   jsonb[],
    out o_cumulative bigint[],
    out o_position   bigint[],
    out o_is_cut     boolean,
    out o_is_sealed  boolean,
    out o_left       jsonb,
    out o_task       recall.current_task[]
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
    v_calls   record;
    v_open    text[];
    v_mixed   integer := 0;
    v_used    bigint  := 0;
    v_cost    bigint  := 0;
    v_before  bigint  := p_session.active_tokens;
    v_whole   integer := 0;
    v_task    recall.current_task;
begin
    o_turns      := '{}'::integer[];
    o_ids        := '{}'::uuid[];
    o_messages   := '{}'::jsonb[];
    o_cumulative := '{}'::bigint[];
    o_position   := '{}'::bigint[];
    o_is_cut     := false;
    o_is_sealed  := false;
    o_left       := '[]';
    for v_row in
        select h.turn_index, h.message_id, h.token_count, h.role::text, h.content,
               h.content_parts, h.name, h.tool_calls, h.tool_call_id
          from recall.conversation_history as h
         where h.user_id    = p_session.user_id
           and h.session_id = p_session.session_id
           and h.created_at between p_session.created_at
                            and least(p_session.last_message_at, p_as_of)
           and h.turn_index > p_after_turn
           and (p_last_turn is null or h.turn_index <= p_last_turn)
           and not h.turn_index <@ p_session.retracted_turns
         order by h.turn_index desc
    loop
        v_before := v_before - v_row.token_count;
        v_cost   := v_cost + v_row.token_count + p_tokens_per_message;
        if v_row.tool_calls is not null then
            v_calls := recall._answered_calls(v_row.tool_calls, v_open, v_row.turn_index);
            v_open  := v_calls.o_open;
            o_left  := o_left || v_calls.o_left;
            v_mixed := v_mixed + 1;
            v_row.tool_calls := v_calls.o_calls;
            if v_calls.o_calls is null and coalesce(v_row.content, '') = ''
               and v_row.content_parts is null then
                v_cost := v_cost - v_row.token_count - p_tokens_per_message;
                continue;
            end if;
        elsif v_row.tool_call_id is not null then
            v_cost  := v_cost + octet_length(v_row.tool_call_id);
            v_open  := v_open || v_row.tool_call_id;
        elsif v_open is not null then
            v_mixed := v_mixed + 2;
        end if;
        -- Fast path for a message with a role and a text: _message_json takes three times as long.
        if v_row.content is null or v_row.name is not null or v_row.tool_calls is not null
           or v_row.tool_call_id is not null then
            v_message := recall._message_json(
                v_row.role, v_row.content, v_row.content_parts, v_row.name, v_row.tool_calls,
                v_row.tool_call_id);
        else
            v_message := jsonb_object(array['role', v_row.role, 'content', v_row.content]);
        end if;
        o_is_sealed := o_is_sealed or coalesce(starts_with(v_row.content, 'sealed:v1:'), false);
        if p_with_task and v_row.role = 'user' and v_task.turn_index is null then
            v_task := row(v_row.turn_index, v_row.message_id, v_message, v_row.token_count, null);
        end if;
        o_turns    := o_turns || v_row.turn_index;
        o_ids      := o_ids || v_row.message_id;
        o_messages := o_messages || v_message;
        o_is_cut := v_used + v_cost > p_budget;
        exit when o_is_cut;
        continue when v_open is not null;
        if v_mixed > 1 then
            select * into o_messages, o_ids, o_turns
              from recall._arrange_exchange(o_messages, o_ids, o_turns, v_whole);
        end if;
        v_used  := v_used + v_cost;
        v_cost  := 0;
        v_mixed := 0;
        if v_task.place is null and v_task.turn_index >= v_row.turn_index then
            v_task.place := v_whole + 1;
        end if;
        while v_whole < cardinality(o_messages) loop
            o_cumulative := o_cumulative || v_used;
            o_position   := o_position || v_before;
            v_whole      := v_whole + 1;
        end loop;
    end loop;
    -- Retention dropped the partition with the calls of these answers.
    if v_open is not null and not o_is_cut then
        o_left := o_left || jsonb_build_object(
            'from_turn', o_turns[cardinality(o_turns)], 'to_turn', o_turns[v_whole + 1],
            'reason', 'uncalled');
    end if;
    if p_with_task and v_task.turn_index is null and (o_is_cut or p_after_turn > 0) then
        v_task := recall._current_task(p_session, p_as_of, p_last_turn);
    end if;
    o_task := array[v_task];
end;
$function$;

comment on function recall._history_window(recall.sessions, integer, timestamptz, bigint, integer,
    integer, boolean) is
    'The newest whole exchanges of a session within a token budget, newest first.';
