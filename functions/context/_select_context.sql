-- Select the parts of a context within its budget.
-- The budget is what the window leaves after system prompt, response, tools, current message and
-- overhead. Memories, working memory and history have shares by the kind of turn, and may use what
-- others leave (recall._fill_context). With p_with_left the memories that were left out stay in the
-- list.
-- Raises  RC001, RC003, RC004, RC005 cost limit, RC009 with the numbers.
create or replace function recall._select_context(
    p_user_id         uuid,
    p_session_id      uuid,
    p_query           text,
    p_query_embedding halfvec,
    p_options         jsonb,
    p_as_of           timestamptz,
    p_with_left       boolean,
    out o_prompt_hash bytea,
    out o_options     jsonb,
    out o_room        bigint,
    out o_memories    recall.context_memory[],
    out o_recalled    recall.recalled_turn[],
    out o_history     jsonb[],
    out o_message_ids uuid[],
    out o_first_turn  integer,
    out o_last_turn   integer,
    out o_summary     text,
    out o_working     text,
    out o_current     jsonb,
    out o_task        text,
    out o_truncated   boolean,
    out o_left_out    jsonb,
    out o_pinned_turn integer,
    out o_budget      jsonb
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_stable_step constant real := 0.5;
    v_session     recall.sessions;
    v_settings    recall.settings;
    v_summary     recall.session_summaries;
    v_current     record;
    v_window      record;
    v_working     record;
    v_filled      record;
    v_room        record;
    v_share       record;
    v_fit         record;
    v_left        record;
    v_query       text;
    v_step        real;
    v_after       integer;
begin
    perform recall._check_embedding(p_query_embedding, 'p_query_embedding');
    o_options  := recall._context_options(p_options);
    v_session  := recall._read_session(p_user_id, p_session_id);
    v_settings := recall._context_settings(p_user_id, o_options);
    -- Rare options are guarded by IF: PL/pgSQL evaluates each expression even when the result is
    -- unused.
    if o_options <> '{}' then
        o_options := recall._context_limits(o_options, v_settings);
    end if;
    if coalesce(v_session.cost_limit_microcents, v_settings.user_cost_limit_microcents) is not null
    then
        perform recall._check_cost(v_session, v_settings);
    end if;

    v_current := recall._current_message(o_options -> 'current_message',
                                         v_settings.tokens_per_image);
    o_current := v_current.o_message;
    v_query   := p_query;
    if v_query = '' or v_query is null then
        v_query := recall._query_text(p_query, o_current);
    end if;
    v_room     := recall._context_total(v_session, o_options, v_current.o_tokens,
                                        o_current is not null, v_settings.tokens_per_message);
    -- In layout cache_stable the start of history moves in steps of half its budget, which do
    -- not depend on the query.
    v_step := case when o_options ->> 'layout' = 'cache_stable' then v_stable_step end;
    v_summary := recall._live_summary(v_session, p_as_of);
    v_after   := case when v_summary.kind = 'compaction' then v_summary.to_turn
                      when p_as_of is null then v_session.compacted_through_turn else 0 end;
    v_window  := recall._history_window(
        v_session, v_after, p_as_of, v_room.o_total, v_settings.tokens_per_message,
        (o_options ->> 'through_turn')::integer, o_current is null);
    o_task    := o_options ->> 'task';
    if o_task is null then
        o_task := recall._classify_task(p_user_id, v_query, v_window.o_messages[1:12],
                                        v_after, v_settings.language);
    end if;
    v_share   := recall._context_shares(o_task, v_room.o_total, o_options, v_room.o_stable,
                                        v_settings);
    v_working := recall._working_block(v_session, o_options ->> 'include_working',
                                       v_share.o_working, p_as_of, v_settings);
    o_working := v_working.o_text;
    v_fit     := recall._fit_history(
        v_window.o_cumulative, v_window.o_position, v_window.o_is_cut, v_summary,
        least(v_share.o_history, v_room.o_total - v_working.o_tokens
                                 - case when v_share.o_is_fixed then v_share.o_memory else 0 end),
        v_step, v_settings.tokens_per_message, v_window.o_task[1]);
    v_filled := recall._fill_context(
        v_session, v_query, p_query_embedding, o_options, p_as_of, p_with_left, v_settings,
        v_room.o_total - v_fit.o_summary - v_working.o_tokens,
        case when v_fit.o_is_short or v_share.o_is_fixed then v_share.o_memory end,
        case when v_step is null
             then coalesce((o_options ->> 'history_budget')::bigint - v_fit.o_summary,
                           v_room.o_total) end,
        v_window.o_turns, v_fit.o_cumulative, v_fit.o_kept, v_fit.o_task);
    o_room     := v_filled.o_room;
    o_memories := v_filled.o_memories;
    o_recalled := v_filled.o_recalled;
    o_prompt_hash := v_session.system_prompt_hash;
    o_summary     := case when v_fit.o_summary > 0 then v_summary.content end;
    -- History runs from the newest message to the oldest. It ends with the task of the turn, unless
    -- a current message starts the turn. Only an encrypted user's context has message ids.
    o_history     := v_window.o_messages[1:v_filled.o_kept];
    o_message_ids := case when v_window.o_is_sealed and v_filled.o_kept > 0
                         then v_window.o_ids[1:v_filled.o_kept] end;
    o_first_turn  := v_window.o_turns[v_filled.o_kept];
    o_last_turn   := case when v_filled.o_kept > 0 then v_window.o_turns[1] end;
    o_truncated   := v_window.o_is_cut or v_filled.o_kept < cardinality(v_fit.o_cumulative);
    if o_truncated or v_after > 0 or v_window.o_left <> '[]' or v_session.first_retained_turn > 1
    then
        v_left := recall._left_turns(
            v_session, v_after, (o_options ->> 'through_turn')::integer, o_truncated,
            case when o_summary is not null then v_summary.to_turn end, o_first_turn,
            v_window.o_task[1], v_filled.o_kept, v_fit.o_task, v_settings.tokens_per_message,
            v_window.o_left);
        o_left_out    := v_left.o_left_out;
        o_truncated   := v_left.o_truncated;
        o_pinned_turn := v_left.o_pinned_turn;
        o_history     := o_history || v_left.o_pinned;
        o_message_ids := o_message_ids || v_left.o_pinned_id;
    end if;
    o_budget      := recall._context_budget(
        v_session, v_room.o_tools, v_current.o_tokens, v_room.o_overhead, v_filled.o_memory,
        v_filled.o_quoted, v_working.o_tokens, v_working.o_note, v_fit.o_summary,
        coalesce(v_fit.o_cumulative[v_filled.o_kept], v_fit.o_task), v_room.o_total,
        o_options -> 'efficiency' = 'true', v_filled.o_efficiency);
end;
$function$;

comment on function recall._select_context(uuid, uuid, text, halfvec, jsonb, timestamptz, boolean)
    is 'Budget, task, memories, recalled turns, history, summary and working memory of a context.';
