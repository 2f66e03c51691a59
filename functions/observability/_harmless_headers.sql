-- recall._harmless_headers(headers, settings) -> those that may be stored
-- A list of what is known to hold no credential; anything else stays out, whatever its value. Names
-- in lower case.
create or replace function recall._harmless_headers(
    p_headers  jsonb,
    p_settings recall.settings
)
returns jsonb
language sql
immutable
parallel safe
begin atomic
    select coalesce(jsonb_object_agg(lower(h.key), h.value), '{}')
      from jsonb_each(recall._redact_json(p_headers, recall._ledger_classes(p_settings))) as h
     where lower(h.key) in (
               'accept', 'accept-encoding', 'content-encoding', 'content-length', 'content-type',
               'date', 'user-agent', 'server', 'via', 'retry-after', 'retry-after-ms', 'cf-ray',
               'request-id', 'x-request-id', 'x-should-retry', 'traceparent',
               'openai-version', 'openai-processing-ms', 'openai-model', 'openai-beta',
               'anthropic-version', 'anthropic-beta', 'mcp-protocol-version')
        or lower(h.key) ~ '^(x-ratelimit-|anthropic-ratelimit-|x-stainless-)[a-z-]+$';
end;

comment on function recall._harmless_headers(jsonb, recall.settings) is
    'Headers of the list that may be stored, names in lower case.';
