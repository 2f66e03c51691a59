-- recall._insert_messages(rows, usage)
-- Settings say which months exist, in two comparisons; should one have been dropped by hand, the
-- insert fails, the month is made, and the insert goes again.
create or replace function recall._insert_messages(
    p_rows  recall.conversation_history[],
    p_usage record
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    insert into recall.conversation_history (
        user_id, session_id, turn_index, created_at, message_id, role, content, content_parts,
        name, tool_calls, tool_call_id, content_hash, token_count, tokens_estimated, model_id,
        finish_reason, prompt_tokens, completion_tokens, cost_microcents, latency_ms,
        model_call_id, metadata)
    select r.user_id, r.session_id, r.turn_index, r.created_at, r.message_id, r.role, r.content,
           r.content_parts, r.name, r.tool_calls, r.tool_call_id, r.content_hash, r.token_count,
           r.tokens_estimated, r.model_id, r.finish_reason,
           case when u.is_here then p_usage.prompt_tokens end,
           case when u.is_here then p_usage.completion_tokens end,
           case when u.is_here then p_usage.cost_microcents end,
           coalesce(r.latency_ms, case when u.is_here then p_usage.latency_ms end),
           r.model_call_id,
           case when u.is_here and p_usage.is_unpriced
                then r.metadata || '{"unpriced_model": true}' else r.metadata end
      from unnest(p_rows) as r
     cross join lateral (
            select r.turn_index is not distinct from p_usage.turn_index
           ) as u (is_here);
exception when check_violation then
    -- Only "no partition for this row" gets better by looking again.
    if not recall._ensure_history_months(p_rows[1].user_id, p_rows) then
        raise;
    end if;
    perform recall._insert_messages(p_rows, p_usage);
end;
$function$;

comment on function recall._insert_messages(recall.conversation_history[], record) is
    'Insert the messages of an append, making a month that is missing.';
