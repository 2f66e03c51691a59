-- recall._select_context(user, session, query, embedding, options, as_of) -> what goes in, and why
-- The budget B is what the window leaves after system prompt, response, tools, current message and
-- the messages' overhead. Memories, working memory and history have shares of it by the kind of
-- turn; what one leaves unused the others may use (recall._fill_context). In layout cache_stable
-- the history's start moves in steps that do not depend on the query.
-- Raises  RC001, RC003, RC004, RC005 cost limit, RC009 with the numbers.
create or replace function recall._select_context(
    p_user_id         uuid,
    p_session_id      uuid,
    p_query           text,
    p_query_embedding halfvec,
    p_options         jsonb,
    p_as_of           timestamptz,
    out o_session     recall.sessions,
    out o_options     jsonb,
    out o_memories    recall.context_memory[],
    out o_recalled    recall.recalled_turn[],
    out o_history     jsonb[],
    out o_message_ids uuid[],
    out o_first_turn  integer,
    out o_last_turn   integer,
    out o_summary     recall.session_summaries,
    out o_working     text,
    out o_current     jsonb,
    out o_task        text,
    out o_truncated   boolean,
    out o_budget      jsonb
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_settings recall.settings;
    v_current  record;
    v_window   record;
    v_working  record;
    v_filled   record;
    v_room     record;
    v_share    record;
    v_fit      record;
    v_query    text;
    v_history  bigint;
    v_other    bigint;
    v_used     bigint;
    v_stable   bigint;
    v_step     real;
    v_is_fixed boolean;
    v_messages jsonb[];
begin
    o_history  := '{}'::jsonb[];
    perform recall._check_embedding(p_query_embedding, 'p_query_embedding');
    o_options  := recall._context_options(p_options);
    o_session  := recall._read_session(p_user_id, p_session_id);
    v_settings := recall._context_settings(p_user_id, o_options);
    o_options  := recall._context_limits(o_options, v_settings);
    perform recall._check_cost(o_session, v_settings);

    v_current := recall._current_message(o_options -> 'current_message',
                                         v_settings.tokens_per_image);
    o_current := v_current.o_message;
    v_query   := recall._query_text(p_query, o_current);
    v_room    := recall._context_total(
        o_session, o_options, v_current.o_tokens,
        1 + (o_session.system_prompt_tokens > 0)::integer + (o_current is not null)::integer,
        v_settings);
    v_stable   := v_room.o_total + v_current.o_tokens
                  + case when o_current is null then 0 else v_settings.tokens_per_message end;
    v_is_fixed := recall._has_fixed_memories(o_options);
    v_step     := case o_options ->> 'layout'
                      when 'cache_stable' then v_settings.cache_stable_step end;

    o_summary := recall._live_summary(o_session, p_as_of);
    v_window  := recall._history_window(
        o_session,
        case when o_summary.kind = 'compaction' then o_summary.to_turn
             when p_as_of is null then o_session.compacted_through_turn else 0 end,
        p_as_of, v_room.o_total, v_settings.tokens_per_message);
    o_task := coalesce(
        o_options ->> 'task',
        recall._classify_task(
            v_query, v_window.o_messages,
            (select u.active_memory_count > 0 from recall.users as u where u.user_id = p_user_id),
            v_settings));
    v_share   := recall._context_shares(o_task, v_room.o_total, o_options, v_stable, v_settings);
    v_working := recall._working_block(o_session, o_options ->> 'include_working',
                                       v_share.o_working, p_as_of, v_settings);
    o_working := v_working.o_text;
    v_share.o_history := least(
        v_share.o_history,
        v_room.o_total - v_working.o_tokens
        - case when v_is_fixed then v_share.o_memory else 0 end);

    v_fit := recall._fit_history(v_window.o_cumulative, v_window.o_position, v_window.o_is_cut,
                                 o_summary, v_share.o_history, v_step,
                                 v_settings.tokens_per_message);
    if v_fit.o_summary = 0 then
        o_summary := null;
    end if;
    v_other  := v_fit.o_summary + v_working.o_tokens;
    v_filled := recall._fill_context(
        o_session, v_query, p_query_embedding, o_options, p_as_of, v_settings,
        v_room.o_total - v_other,
        case when v_fit.o_is_short or v_is_fixed then v_share.o_memory end,
        case when v_step is null
             then coalesce((o_options ->> 'history_budget')::bigint - v_fit.o_summary,
                           v_room.o_total) end,
        v_window.o_turns, v_window.o_cumulative, v_window.o_position, v_window.o_is_cut,
        v_fit.o_kept);
    o_memories := v_filled.o_memories;
    o_recalled := v_filled.o_recalled;
    v_history  := coalesce(v_window.o_cumulative[v_filled.o_kept], 0);
    v_used     := v_other + v_filled.o_memory + v_filled.o_quoted + v_history;

    v_messages := v_window.o_messages;
    for v_place in reverse v_filled.o_kept .. 1 loop
        o_history := o_history || v_messages[v_place];
    end loop;
    if v_window.o_is_sealed then
        o_message_ids := array(select v_window.o_ids[p.place]
                                 from generate_series(v_filled.o_kept, 1, -1) as p (place));
    end if;
    o_first_turn := v_window.o_turns[v_filled.o_kept];
    o_last_turn  := case when v_filled.o_kept > 0 then v_window.o_turns[1] end;
    o_truncated  := v_window.o_is_cut or v_filled.o_kept < cardinality(v_window.o_turns);
    o_budget     := jsonb_build_object(
        'window', o_session.context_window_size, 'system', o_session.system_prompt_tokens,
        'tools', v_room.o_tools, 'response', o_session.max_response_tokens,
        'current', v_current.o_tokens, 'overhead', v_room.o_overhead,
        'memory', v_filled.o_memory, 'recalled', v_filled.o_quoted,
        'working', coalesce(to_jsonb(v_working.o_note), to_jsonb(v_working.o_tokens)),
        'summary', v_fit.o_summary, 'history', v_history, 'available', v_room.o_total,
        'used', v_used, 'total', o_session.system_prompt_tokens + v_room.o_tools
                                 + v_current.o_tokens + v_room.o_overhead + v_used)
        || case when o_options -> 'efficiency' = 'true'
                then jsonb_build_object('efficiency', v_filled.o_efficiency) else '{}' end;
end;
$function$;

comment on function recall._select_context(uuid, uuid, text, halfvec, jsonb, timestamptz) is
    'Budget, task, memories, recalled turns, history, summary and working memory of a context.';
