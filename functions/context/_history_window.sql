-- Read the newest exchanges of a session that fit a budget.
-- An exchange is a message, or calls with all of their answers and the texts between them. A call
-- without an answer, or an answer without its call, goes to left_out. The loop stops at the budget;
-- arrays may hold rows beyond cumulative, which do not fit. enable_sort is off because a sort
-- would first read the whole session.
create or replace function recall._history_window(
    p_request    recall.context_request,
    p_after_turn integer
)
returns recall.history_window
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set max_parallel_workers_per_gather = 0
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set constraint_exclusion = off
set jit = off
as $function$
declare
    v_session   constant recall.sessions := p_request.session;
    v_last_turn constant integer := (p_request.options ->> 'through_turn')::integer;
    v_frame     constant integer := (p_request.settings).tokens_per_message;
    v_has_task  constant boolean := p_request.current_message is null;
    -- Variables: PL/pgSQL would copy an array of a record for each element.
    v_turns      integer[] := '{}'::integer[];
    v_ids        uuid[]    := '{}'::uuid[];
    v_messages   jsonb[]   := '{}'::jsonb[];
    v_cumulative bigint[]  := '{}'::bigint[];
    v_positions  bigint[]  := '{}'::bigint[];
    v_left       jsonb     := '[]'::jsonb;
    v_is_cut     boolean   := false;
    v_is_sealed  boolean   := false;
    v_row     record;
    v_calls   record;
    v_open    text[];
    v_mixed   integer := 0;
    v_used    bigint  := 0;
    v_before  bigint  := v_session.active_tokens;
    v_whole   integer := 0;
    v_task    recall.current_task;
begin
    for v_row in
        select h.turn_index, h.message_id, h.token_count, h.role::text, h.content, h.content_parts,
               h.name, h.tool_calls, h.tool_call_id,
               coalesce(starts_with(h.content, 'sealed:v1:'), false) as is_sealed,
               -- Fast path for a message with a role and a text.
               case when h.content is not null
                         and num_nulls(h.name, h.tool_calls, h.tool_call_id) = 3
                    then jsonb_object(array['role', h.role::text, 'content', h.content])
               end as message
          from recall.conversation_history as h
         where h.user_id    = v_session.user_id
           and h.session_id = v_session.session_id
           and h.created_at between v_session.created_at
                            and least(v_session.last_message_at, p_request.as_of)
           and h.turn_index > p_after_turn
           and (v_last_turn is null or h.turn_index <= v_last_turn)
           and not h.turn_index <@ v_session.retracted_turns
         order by h.turn_index desc
    loop
        -- In the statement, _shown_parts would be planned at every call: 40 µs.
        if v_row.content_parts is not null then
            v_row.content_parts := recall._shown_parts(v_row.content_parts);
            continue when num_nulls(v_row.content_parts, v_row.tool_calls, v_row.tool_call_id) = 3;
        end if;
        v_before := v_before - v_row.token_count;
        if v_row.tool_calls is not null then
            v_calls := recall._answered_calls(v_row.tool_calls, v_open, v_row.turn_index);
            v_open  := v_calls.o_open;
            v_left  := v_left || v_calls.o_left;
            v_mixed := v_mixed + 1;
            v_row.tool_calls := v_calls.o_calls;
            continue when v_calls.o_calls is null and coalesce(v_row.content, '') = ''
                          and v_row.content_parts is null;
        elsif v_row.tool_call_id is not null then
            v_used := v_used + octet_length(v_row.tool_call_id);
            v_open := v_open || v_row.tool_call_id;
        elsif v_open is not null then
            v_mixed := v_mixed + 2;
        end if;
        if v_row.message is null then
            v_row.message := recall._message_json(
                v_row.role, v_row.content, v_row.content_parts, v_row.name, v_row.tool_calls,
                v_row.tool_call_id);
        end if;
        v_is_sealed := v_is_sealed or v_row.is_sealed;
        if v_task.turn_index is null and v_has_task and v_row.role = 'user' then
            v_task := row(v_row.turn_index, v_row.message_id, v_row.message, v_row.token_count,
                          null);
        end if;
        v_turns    := v_turns || v_row.turn_index;
        v_ids      := v_ids || v_row.message_id;
        v_messages := v_messages || v_row.message;
        v_used     := v_used + v_row.token_count + v_frame;
        v_is_cut   := v_used > p_request.available;
        exit when v_is_cut;
        continue when v_open is not null;
        if v_mixed > 1 then
            select * into v_messages, v_ids, v_turns
              from recall._arrange_exchange(v_messages, v_ids, v_turns, v_whole);
        end if;
        v_mixed := 0;
        if v_task.place is null and v_task.turn_index >= v_row.turn_index then
            v_task.place := v_whole + 1;
        end if;
        while v_whole < cardinality(v_messages) loop
            v_cumulative := v_cumulative || v_used;
            v_positions  := v_positions || v_before;
            v_whole      := v_whole + 1;
        end loop;
    end loop;
    -- Retention dropped the partition with the calls of these answers.
    if v_open is not null and not v_is_cut then
        v_left := v_left || jsonb_build_object(
            'from_turn', v_turns[cardinality(v_turns)], 'to_turn', v_turns[v_whole + 1],
            'reason', 'uncalled');
    end if;
    return row(p_after_turn, v_turns, v_ids, v_messages, v_cumulative, v_positions, v_is_cut,
               v_is_sealed, v_left, v_task, null, null, null, null)::recall.history_window;
end;
$function$;

comment on function recall._history_window(recall.context_request, integer) is
    'The newest whole exchanges of a session within a token budget, newest first.';
