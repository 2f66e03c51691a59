-- Return the tokens that history may use in a continuation.
-- Shares are cast to numeric: 1 - 0.15 as real is slightly below 0.85, and 680 tokens become 679.
create or replace function recall._history_budget(
    p_session  recall.sessions,
    p_settings recall.settings
)
returns bigint
language sql
immutable
parallel safe
as $function$
    select greatest(0, floor((1 - p_settings.continuation_memory_share::numeric)
                             * (p_session.context_window_size - p_session.system_prompt_tokens
                                - p_session.max_response_tokens)))::bigint;
$function$;

comment on function recall._history_budget(recall.sessions, recall.settings) is
    'Tokens of history in a continuation, before tools and current message.';
