-- recall._message_cost(row, tokens_per_message) -> tokens of a message in a prompt
-- Its count, what the provider adds to each message, and the id that a tool message carries.
create or replace function recall._message_cost(
    p_row                recall.conversation_history,
    p_tokens_per_message integer
)
returns bigint
language sql
immutable
parallel safe
return p_row.token_count + p_tokens_per_message
       + coalesce(octet_length(p_row.tool_call_id), 0);

comment on function recall._message_cost(recall.conversation_history, integer) is
    'Tokens of a message in a prompt, overhead included.';
