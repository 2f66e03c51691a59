-- Insert the messages of an append; return the turn before them.
-- It numbers and dates the rows of _read_messages, and assigns the usage to one of them. The
-- session has counted them already. A call of a model without prices costs 0, and the message
-- records that (unpriced_model).
create or replace function recall._insert_messages(
    p_session     recall.sessions,
    p_rows        recall.conversation_history[],
    p_usage_place integer,
    p_usage       recall.call_usage,
    p_now         timestamptz
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_before integer := p_session.turn_count - cardinality(p_rows);
    v_place  integer := case when p_usage.prompt_tokens is not null then p_usage_place end;
begin
    if v_place is not null and p_usage.cost_microcents is null then
        p_usage.cost_microcents := 0;
        p_rows[v_place].metadata := p_rows[v_place].metadata || '{"unpriced_model": true}';
    end if;

    insert into recall.conversation_history (
        user_id, session_id, turn_index, created_at, message_id, role, content, content_parts,
        name, tool_calls, tool_call_id, content_hash, token_count, tokens_estimated, model_id,
        finish_reason, prompt_tokens, completion_tokens, cost_microcents, latency_ms,
        model_call_id, metadata)
    select r.user_id, r.session_id, v_before + r.turn_index,
           least(coalesce(r.created_at, p_now), p_now), r.message_id, r.role, r.content,
           r.content_parts, r.name, r.tool_calls, r.tool_call_id, r.content_hash, r.token_count,
           r.tokens_estimated,
           coalesce(r.model_id, case when r.role = 'assistant' then p_session.model_id end),
           r.finish_reason,
           case when r.turn_index = v_place then p_usage.prompt_tokens end,
           case when r.turn_index = v_place then p_usage.completion_tokens end,
           case when r.turn_index = v_place then p_usage.cost_microcents end,
           coalesce(r.latency_ms, case when r.turn_index = v_place then p_usage.latency_ms end),
           r.model_call_id, r.metadata
      from unnest(p_rows) as r;
    return v_before;
end;
$function$;

comment on function recall._insert_messages(recall.sessions, recall.conversation_history[],
    integer, recall.call_usage, timestamptz) is
    'Insert the messages of an append, with the usage of the call that produced one of them.';
