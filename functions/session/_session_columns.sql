-- Return the columns of a session that get_session and list_sessions return.
-- Enums are text, which every driver reads. The planner inlines it.
create or replace function recall._session_columns(
    p_session       recall.sessions,
    p_system_prompt text
)
returns setof recall.session_row
language sql
immutable
parallel safe
as $function$
    select (p_session).session_id, (p_session).status::text, (p_session).model_id,
           (p_session).agent_id, (p_session).title, (p_session).turn_count,
           (p_session).active_tokens, (p_session).total_prompt_tokens,
           (p_session).total_completion_tokens, (p_session).total_cost_microcents,
           (p_session).created_at, (p_session).updated_at, (p_session).expires_at,
           (p_session).metadata, (p_session).context_window_size,
           (p_session).max_response_tokens, p_system_prompt, (p_session).system_prompt_tokens,
           (p_session).temperature, (p_session).top_p, (p_session).cost_limit_microcents,
           (p_session).parent_session_id, (p_session).user_turn_count,
           (p_session).compacted_through_turn, (p_session).extracted_through_turn,
           (p_session).last_message_at;
$function$;

comment on function recall._session_columns(recall.sessions, text) is
    'The columns of a session that readers get.';
