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
    v_settings   recall.settings;
    v_current    record;
    v_window     record;
    v_working    record;
    v_packed     record;
    v_query      text := p_query;
    v_tools      bigint;
    v_overhead   bigint;
    v_total      bigint;
    v_memory_share  bigint;
    v_working_share bigint;
    v_history_share bigint;
    v_kept       integer;
    v_summary    bigint := 0;
    v_used       bigint;
    v_heading    bigint;
    v_stable     boolean;
    v_step       real;
begin
    perform recall._check_embedding(p_query_embedding, 'p_query_embedding');
    o_options  := recall._context_options(p_options);
    v_stable   := coalesce(o_options ->> 'layout', 'standard') = 'cache_stable';
    o_session  := recall._read_session(p_user_id, p_session_id);
    v_settings := recall._settings(p_user_id);
    if o_options ?| '{scoring,decay_mode}' then
        v_settings := jsonb_populate_record(
            v_settings, jsonb_strip_nulls(jsonb_build_object(
                'scoring', o_options -> 'scoring', 'decay_mode', o_options -> 'decay_mode')));
    end if;
    perform recall._check_cost(o_session);

    v_current := recall._current_message(o_options -> 'current_message',
                                         v_settings.tokens_per_image);
    o_current := v_current.o_message;
    v_query   := coalesce(nullif(p_query, ''), recall._content_text(
        case when jsonb_typeof(o_current -> 'content') = 'string' then o_current ->> 'content' end,
        case when jsonb_typeof(o_current -> 'content') = 'array' then o_current -> 'content' end));
    v_query   := nullif(v_query, '');

    v_tools    := coalesce((o_options ->> 'tool_tokens')::integer,
                           recall._estimate_tokens((o_options -> 'tools')::text), 0);
    v_overhead := v_settings.tokens_per_message
                  * (1 + (o_session.system_prompt_tokens > 0)::integer
                       + (o_current is not null)::integer);
    v_total    := o_session.context_window_size::bigint - o_session.system_prompt_tokens
                  - o_session.max_response_tokens - v_tools - v_current.o_tokens - v_overhead;
    if v_total < 0 then
        raise exception using
            errcode = 'RC009',
            message = format('%s tokens are missing: window %s, system prompt %s, response %s, '
                             'tools %s, current message %s, overhead %s',
                             -v_total, o_session.context_window_size,
                             o_session.system_prompt_tokens, o_session.max_response_tokens,
                             v_tools, v_current.o_tokens, v_overhead),
            hint    = 'Reserve less for the response, or use a model with a larger window.';
    end if;

    o_summary := recall._live_summary(o_session, p_as_of);
    v_window  := recall._history_window(
        o_session,
        case when o_summary.kind = 'compaction' then o_summary.to_turn
             else o_session.compacted_through_turn end,
        p_as_of, v_total, v_settings);

    o_task := coalesce(
        o_options ->> 'task',
        recall._classify_task(
            v_query, v_window.o_rows,
            (select u.active_memory_count > 0 from recall.users as u where u.user_id = p_user_id),
            v_settings));
    v_memory_share := floor(v_total * case o_task
        when 'knowledge' then v_settings.knowledge_memory_share
        when 'new_session' then v_settings.new_session_memory_share
        when 'tool_heavy' then v_settings.tool_heavy_memory_share
        else v_settings.continuation_memory_share
    end);
    v_working_share := case when o_task = 'tool_heavy'
                            then floor(v_total * v_settings.tool_heavy_working_share)
                            else v_memory_share / 2 end;

    v_working := recall._working_block(o_session, o_options ->> 'include_working',
                                       v_working_share, p_as_of, v_settings);
    o_working := v_working.o_text;

    v_history_share := v_total - v_memory_share - case when o_task = 'tool_heavy'
                                                       then v_working_share else 0 end;
    if v_stable then
        v_step := v_settings.cache_stable_step;
        v_history_share := least(
            v_total - v_working.o_tokens,
            floor((1 - v_settings.continuation_memory_share)
                  * (o_session.context_window_size - o_session.system_prompt_tokens
                     - o_session.max_response_tokens - v_tools - v_overhead))::bigint);
    end if;
    v_history_share := least(v_history_share, (o_options ->> 'history_budget')::bigint);

    -- Summary and history share: whether the summary is needed depends on what history fits.
    v_kept := recall._rows_that_fit(v_window.o_cumulative, v_window.o_position, v_window.o_is_cut,
                                    v_history_share, v_step);
    if o_summary.summary_id is not null
       and (o_summary.kind = 'compaction' or v_window.o_is_cut
            or v_kept < cardinality(v_window.o_rows)) then
        v_summary := o_summary.token_count + 40 + v_settings.tokens_per_message;
        if v_summary > v_history_share then
            v_summary := 0;
            o_summary := null;
        else
            v_kept := recall._rows_that_fit(v_window.o_cumulative, v_window.o_position,
                                            v_window.o_is_cut, v_history_share - v_summary, v_step);
        end if;
    else
        o_summary := null;
    end if;
    v_used := coalesce(v_window.o_cumulative[v_kept], 0) + v_summary + v_working.o_tokens;

    v_heading := recall._memory_heading_tokens(o_options) + v_settings.tokens_per_message;
    -- Memories take their share and what history left; then history takes what they left.
    v_packed := recall._pack_memories(
        recall._context_candidates(o_session, v_query, p_query_embedding, o_options, p_as_of,
                                   v_settings),
        least(case when v_kept < cardinality(v_window.o_rows) or v_window.o_is_cut
                   then least(v_memory_share, v_total - v_used)
                   else v_total - v_used end,
              (o_options ->> 'memory_budget')::bigint)
        - v_heading,
        o_options);
    o_memories := v_packed.o_memories;
    if v_packed.o_tokens > 0 then
        v_used := v_used + v_packed.o_tokens + v_heading;
    end if;
    if not v_stable then
        v_used := v_used - coalesce(v_window.o_cumulative[v_kept], 0);
        v_kept := recall._rows_that_fit(
            v_window.o_cumulative, v_window.o_position, v_window.o_is_cut,
            least(v_total - v_used, (o_options ->> 'history_budget')::bigint - v_summary), null);
        v_used := v_used + coalesce(v_window.o_cumulative[v_kept], 0);
    end if;

    o_history   := v_window.o_rows[1:v_kept];
    o_truncated := v_window.o_is_cut or v_kept < cardinality(v_window.o_rows);
    o_budget    := jsonb_build_object(
        'window', o_session.context_window_size,
        'system', o_session.system_prompt_tokens,
        'tools', v_tools,
        'response', o_session.max_response_tokens,
        'current', v_current.o_tokens,
        'overhead', v_overhead,
        'memory', case when v_packed.o_tokens > 0
                       then v_packed.o_tokens + v_heading else 0 end,
        'working', coalesce(to_jsonb(v_working.o_note), to_jsonb(v_working.o_tokens)),
        'summary', v_summary,
        'history', coalesce(v_window.o_cumulative[v_kept], 0),
        'available', v_total,
        'used', v_used,
        'total', o_session.system_prompt_tokens + v_tools + v_current.o_tokens + v_overhead
                 + v_used);
end;
$function$;

comment on function recall._select_context(uuid, uuid, text, halfvec, jsonb, timestamptz) is
    'Budget, task, memories, history, summary and working memory of a context.';
