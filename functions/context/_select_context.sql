-- recall._select_context(user, session, query, embedding, options, as_of) -> what goes in, and why
-- The budget B is what the window leaves after system prompt, response, tools, current message and
-- the messages' overhead. Memories, working memory and history have shares of it by the kind of
-- turn; what one leaves unused the others may use. In layout cache_stable the history's start moves
-- in steps that do not depend on the query.
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
    out o_history     recall.conversation_history[],
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
    v_packed   record;
    v_room     record;
    v_share    record;
    v_fit      record;
    v_query    text;
    v_kept     integer;
    v_used     bigint;
    v_heading  bigint;
    v_stable   bigint;
    v_step     real;
begin
    perform recall._check_embedding(p_query_embedding, 'p_query_embedding');
    o_options  := recall._context_options(p_options);
    o_session  := recall._read_session(p_user_id, p_session_id);
    v_settings := recall._context_settings(p_user_id, o_options);
    perform recall._check_cost(o_session);

    v_current := recall._current_message(o_options -> 'current_message',
                                         v_settings.tokens_per_image);
    o_current := v_current.o_message;
    v_query   := recall._query_text(p_query, o_current);
    v_room    := recall._context_total(
        o_session, o_options, v_current.o_tokens,
        1 + (o_session.system_prompt_tokens > 0)::integer + (o_current is not null)::integer,
        v_settings);
    if o_options ->> 'layout' = 'cache_stable' then
        v_stable := v_room.o_total + v_current.o_tokens;
        v_step   := v_settings.cache_stable_step;
    end if;

    o_summary := recall._live_summary(o_session, p_as_of);
    v_window  := recall._history_window(
        o_session,
        case when o_summary.kind = 'compaction' then o_summary.to_turn
             when p_as_of is null then o_session.compacted_through_turn else 0 end,
        p_as_of, v_room.o_total, v_settings);
    o_task := coalesce(
        o_options ->> 'task',
        recall._classify_task(
            v_query, v_window.o_rows,
            (select u.active_memory_count > 0 from recall.users as u where u.user_id = p_user_id),
            v_settings));
    v_share   := recall._context_shares(o_task, v_room.o_total, o_options, v_stable, v_settings);
    v_working := recall._working_block(o_session, o_options ->> 'include_working',
                                       v_share.o_working, p_as_of, v_settings);
    o_working := v_working.o_text;
    v_share.o_history := least(v_share.o_history, v_room.o_total - v_working.o_tokens);

    v_fit := recall._fit_history(v_window.o_cumulative, v_window.o_position, v_window.o_is_cut,
                                 o_summary, v_share.o_history, v_step,
                                 v_settings.tokens_per_message);
    if v_fit.o_summary = 0 then
        o_summary := null;
    end if;
    v_kept := v_fit.o_kept;
    v_used := coalesce(v_window.o_cumulative[v_kept], 0) + v_fit.o_summary + v_working.o_tokens;

    -- Memories take their share and what history left; then history takes what they left.
    v_heading := recall._memory_heading_tokens(o_options) + v_settings.tokens_per_message;
    v_packed  := recall._pack_memories(
        recall._context_candidates(o_session, v_query, p_query_embedding, o_options, p_as_of,
                                   v_settings),
        least(v_room.o_total - v_used,
              case when v_fit.o_is_short then v_share.o_memory end,
              (o_options ->> 'memory_budget')::bigint) - v_heading,
        o_options);
    o_memories := v_packed.o_memories;
    v_heading  := case when v_packed.o_tokens > 0 then v_packed.o_tokens + v_heading else 0 end;
    v_used     := v_used + v_heading;
    if v_stable is null then
        v_used := v_used - coalesce(v_window.o_cumulative[v_kept], 0);
        v_kept := recall._rows_that_fit(
            v_window.o_cumulative, v_window.o_position, v_window.o_is_cut,
            least(v_room.o_total - v_used,
                  (o_options ->> 'history_budget')::bigint - v_fit.o_summary), null);
        v_used := v_used + coalesce(v_window.o_cumulative[v_kept], 0);
    end if;

    o_history   := v_window.o_rows[1:v_kept];
    o_truncated := v_window.o_is_cut or v_kept < cardinality(v_window.o_rows);
    o_budget    := jsonb_build_object(
        'window', o_session.context_window_size,
        'system', o_session.system_prompt_tokens,
        'tools', v_room.o_tools, 'response', o_session.max_response_tokens,
        'current', v_current.o_tokens, 'overhead', v_room.o_overhead,
        'memory', v_heading,
        'working', coalesce(to_jsonb(v_working.o_note), to_jsonb(v_working.o_tokens)),
        'summary', v_fit.o_summary,
        'history', coalesce(v_window.o_cumulative[v_kept], 0),
        'available', v_room.o_total, 'used', v_used,
        'total', o_session.system_prompt_tokens + v_room.o_tools + v_current.o_tokens
                 + v_room.o_overhead + v_used);
end;
$function$;

comment on function recall._select_context(uuid, uuid, text, halfvec, jsonb, timestamptz) is
    'Budget, task, memories, history, summary and working memory of a context.';
