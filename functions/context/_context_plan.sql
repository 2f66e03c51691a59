-- Plan a context: choose memories, working memory, summary and history within the budget.
-- Memories, working memory and history have shares by the kind of turn, and may use what others
-- leave (recall._fill_plan). With p_with_left the memories that were left out stay in the list.
create or replace function recall._context_plan(
    p_request   recall.context_request,
    p_with_left boolean
)
returns recall.context_plan
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_session  constant recall.sessions := p_request.session;
    v_plan     recall.context_plan;
    v_summary  recall.session_summaries;
    v_window   recall.history_window;
    v_share    record;
    v_working  record;
    v_left     record;
    v_as_of    constant timestamptz := p_request.as_of;
    v_after    integer := 0;
    v_used     bigint;
begin
    -- The summary of the compaction, else the rolling one.
    select s.*
      into v_summary
      from recall.session_summaries as s
     where s.user_id    = v_session.user_id
       and s.session_id = v_session.session_id
       and case when v_as_of is null then s.ended_at is null
                else s.created_at <= v_as_of and coalesce(s.ended_at, 'infinity') > v_as_of end
     order by s.kind, s.created_at desc
     limit 1;
    if v_summary.kind = 'compaction' then
        v_after := v_summary.to_turn;
    elsif v_as_of is null then
        v_after := v_session.compacted_through_turn;
    end if;
    v_window    := recall._history_window(p_request, v_after);
    if p_request.current_message is null and (v_window.task).turn_index is null
       and (v_window.is_cut or v_after > 0) then
        v_window.task := recall._current_task(p_request);
    end if;
    v_plan.task := p_request.options ->> 'task';
    if v_plan.task is null then
        v_plan.task := recall._classify_task(p_request, v_window);
    end if;

    v_share   := recall._context_shares(p_request, v_plan.task);
    v_working := recall._working_block(p_request, v_share.o_working);
    v_plan.working        := v_working.o_text;
    v_plan.working_tokens := v_working.o_tokens;
    v_window := recall._fit_history(
        p_request, v_window, v_summary,
        least(v_share.o_history, p_request.available - v_plan.working_tokens
                                 - case when p_request.has_fixed then v_share.o_memory else 0 end));
    v_plan   := recall._fill_plan(
        v_plan, p_request, v_window,
        case when v_window.is_short or p_request.has_fixed then v_share.o_memory end, p_with_left);

    if v_window.summary_tokens > 0 then
        v_plan.summary := v_summary.content;
    end if;
    -- History runs from the newest message to the oldest. It ends with the task of the turn, unless
    -- a current message starts the turn. Only an encrypted user's context has message ids.
    v_plan.history    := v_window.messages[1:v_plan.kept];
    v_plan.first_turn := v_window.turns[v_plan.kept];
    if v_plan.kept > 0 then
        v_plan.last_turn := v_window.turns[1];
        if v_window.is_sealed then
            v_plan.message_ids := v_window.ids[1:v_plan.kept];
        end if;
    end if;
    v_plan.truncated := v_window.is_cut or v_plan.kept < cardinality(v_window.cumulative);
    if v_plan.truncated or v_after > 0 or v_window.left_out <> '[]'
       or v_session.first_retained_turn > 1
    then
        v_left := recall._left_turns(
            p_request, v_window, v_plan.kept,
            case when v_plan.summary is not null then v_summary.to_turn end);
        v_plan.left_out    := v_left.o_left_out;
        v_plan.truncated   := v_left.o_truncated;
        v_plan.pinned_turn := v_left.o_pinned_turn;
        v_plan.history     := v_plan.history || v_left.o_pinned;
        v_plan.message_ids := v_plan.message_ids || v_left.o_pinned_id;
    end if;

    v_used := v_plan.memory_tokens + v_plan.recalled_tokens + v_working.o_tokens
              + v_window.summary_tokens
              + coalesce(v_window.cumulative[v_plan.kept], v_window.task_tokens);
    v_plan.budget := jsonb_build_object(
        'window', v_session.context_window_size, 'system', v_session.system_prompt_tokens,
        'tools', p_request.tool_tokens, 'response', v_session.max_response_tokens,
        'current', p_request.current_tokens, 'overhead', p_request.overhead,
        'memory', v_plan.memory_tokens, 'recalled', v_plan.recalled_tokens,
        'working', coalesce(to_jsonb(v_working.o_note), to_jsonb(v_working.o_tokens)),
        'summary', v_window.summary_tokens,
        'history', coalesce(v_window.cumulative[v_plan.kept], v_window.task_tokens),
        'available', p_request.available, 'used', v_used,
        'total', v_session.system_prompt_tokens + p_request.tool_tokens + p_request.current_tokens
                 + p_request.overhead + v_used);
    if p_request.options -> 'efficiency' = 'true' then
        v_plan.budget := v_plan.budget || jsonb_build_object('efficiency', v_plan.efficiency);
    end if;
    return v_plan;
end;
$function$;

comment on function recall._context_plan(recall.context_request, boolean) is
    'Memories, recalled turns, history, summary and working memory of a context, with the reasons '
    'and the tokens of each.';
