-- Return the pattern of header names, in lower case, that never hold a credential.
-- Drivers apply it before they send headers.
create or replace function recall._harmless_header_names()
returns text
language sql
immutable
parallel safe
return '^(?:accept|accept-encoding|content-encoding|content-length|content-type|date|user-agent|'
       'server|via|retry-after|retry-after-ms|cf-ray|request-id|x-request-id|x-should-retry|'
       'traceparent|openai-version|openai-processing-ms|openai-model|openai-beta|'
       'anthropic-version|anthropic-beta|mcp-protocol-version|'
       '(?:x-ratelimit-|anthropic-ratelimit-|x-stainless-)[a-z-]+)$';

comment on function recall._harmless_header_names() is
    'Pattern of the header names that the call log stores.';
