-- Compute the tokens that the window leaves to memories, working memory, summary and history.
-- That is the window minus system prompt, response, tools, current message and the overhead of
-- their messages and that of the memories. o_stable does not depend on the current message.
-- Raises  RC009 with the numbers.
create or replace function recall._context_total(
    p_session            recall.sessions,
    p_options            jsonb,
    p_current_tokens     integer,
    p_has_current        boolean,
    p_tokens_per_message integer,
    out o_tools          bigint,
    out o_overhead       bigint,
    out o_total          bigint,
    out o_stable         bigint
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    o_tools := coalesce((p_options ->> 'tool_tokens')::integer, 0);
    if p_options ? 'tools' and not p_options ? 'tool_tokens' then
        o_tools := recall._estimate_tokens((p_options -> 'tools')::text);
    end if;
    o_overhead := p_tokens_per_message
                  * (1 + (p_session.system_prompt_tokens > 0)::integer + p_has_current::integer);
    o_total    := p_session.context_window_size::bigint - p_session.system_prompt_tokens
                  - p_session.max_response_tokens - o_tools - p_current_tokens - o_overhead;
    o_stable   := o_total + p_current_tokens + p_tokens_per_message * p_has_current::integer;

    if o_total < 0 then
        raise exception using
            errcode = 'RC009',
            message = format('%s tokens are missing: window %s, system prompt %s, response %s, '
                             'tools %s, current message %s, overhead %s',
                             -o_total, p_session.context_window_size,
                             p_session.system_prompt_tokens, p_session.max_response_tokens,
                             o_tools, p_current_tokens, o_overhead),
            hint    = 'Reserve less for the response, or use a model with a larger window.';
    end if;
end;
$function$;

comment on function recall._context_total(recall.sessions, jsonb, integer, boolean, integer) is
    'Tokens that the window leaves to memories, working memory, summary and history.';
