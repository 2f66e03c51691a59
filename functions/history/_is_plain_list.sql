-- recall._is_plain_list(messages) -> are they texts of the common roles?
-- One look, where recall._judge_message takes the time of sixty expressions. What it does not like
-- need not be wrong. The pattern finds numbers that are not whole. A list in the list it looks
-- into; recall._plain_messages makes no row of that.
create or replace function recall._is_plain_list(
    p_messages jsonb
)
returns boolean
language sql
immutable
parallel safe
return not p_messages @? '$[*] ? (
    @.type() != "object" || !exists(@.content) || @.content.type() != "string"
    || !(@.role == "user" || @.role == "assistant" || @.role == "system" || @.role == "developer")
    || @.role.type() != "string" || @.name.type() != "string" || @.model_id.type() != "string"
    || @.finish_reason.type() != "string" || @.metadata.type() != "object"
    || @.token_count.type() != "number" || @.token_count < 0 || @.token_count > 999999999
    || @.latency_ms.type() != "number" || @.latency_ms < 0 || @.latency_ms > 999999999
    || @.token_count.string() like_regex "[.]" || @.latency_ms.string() like_regex "[.]"
    || exists(@.tool_calls) || exists(@.tool_call_id) || exists(@.created_at))';

comment on function recall._is_plain_list(jsonb) is
    'Whether messages are texts of the common roles, with nothing wrong in the fields that these '
    'mostly have.';
