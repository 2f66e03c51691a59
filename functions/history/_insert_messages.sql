-- recall._insert_messages(session, rows, now, retry)
-- Numbers and dates the rows of recall._read_messages, and inserts them.
-- Settings say which months exist, in two comparisons; should one have been dropped by hand, the
-- insert fails, the month is made (here or by a neighbor at this moment), and the insert goes
-- again, once. "No partition for this row" is the check violation that has no constraint.
create or replace function recall._insert_messages(
    p_session recall.sessions,
    p_rows    recall.conversation_history[],
    p_now     timestamptz,
    p_retry   boolean default true
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_constraint text;
begin
    insert into recall.conversation_history (
        user_id, session_id, turn_index, created_at, message_id, role, content, content_parts,
        name, tool_calls, tool_call_id, content_hash, token_count, tokens_estimated, model_id,
        finish_reason, prompt_tokens, completion_tokens, cost_microcents, latency_ms,
        model_call_id, metadata)
    select r.user_id, r.session_id, p_session.turn_count + r.turn_index,
           least(coalesce(r.created_at, p_now), p_now), r.message_id, r.role, r.content,
           r.content_parts, r.name, r.tool_calls, r.tool_call_id, r.content_hash, r.token_count,
           r.tokens_estimated,
           coalesce(r.model_id, case when r.role = 'assistant' then p_session.model_id end),
           r.finish_reason, r.prompt_tokens, r.completion_tokens, r.cost_microcents, r.latency_ms,
           r.model_call_id, r.metadata
      from unnest(p_rows) as r;
exception when check_violation then
    get stacked diagnostics v_constraint = constraint_name;
    if v_constraint <> '' or not p_retry then
        raise;
    end if;
    perform recall._ensure_history_months(p_session.user_id, p_rows, p_now, true);
    perform recall._insert_messages(p_session, p_rows, p_now, false);
end;
$function$;

comment on function recall._insert_messages(recall.sessions, recall.conversation_history[],
    timestamptz, boolean) is
    'Insert the messages of an append, making a month that is missing.';
