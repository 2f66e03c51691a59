-- Call log: complete requests to models and tools and their responses, without credentials.
-- An id is a UUIDv7 whose time is created_at, so that an id determines its month and is unique. The
-- events of a stream are in the month of their call, and are dropped with it.
create table if not exists recall.model_calls (
    user_id           uuid        not null,
    call_id           uuid        not null,
    created_at        timestamptz not null,
    session_id        uuid,
    job_id            uuid,
    provider          text,
    endpoint          text,
    model             text        not null,
    request           jsonb,
    response          jsonb,
    usage             jsonb,
    error             text,
    request_id        text,
    status_code       integer,
    started_at        timestamptz not null,
    completed_at      timestamptz,
    latency_ms        integer,
    prompt_tokens     integer,
    completion_tokens integer,
    cached_tokens     integer,
    reasoning_tokens  integer,
    cost_microcents   bigint,
    is_stream         boolean     not null default false,
    request_body      bytea,
    response_body     bytea,
    request_headers   jsonb       not null default '{}',
    response_headers  jsonb       not null default '{}',
    metadata          jsonb       not null default '{}',
    constraint model_calls_pkey primary key (user_id, call_id, created_at),
    constraint model_calls_numbers_check check (
        latency_ms >= 0 and prompt_tokens >= 0 and completion_tokens >= 0 and cached_tokens >= 0
        and reasoning_tokens >= 0 and cost_microcents >= 0),
    constraint model_calls_headers_check check (
        jsonb_typeof(request_headers) = 'object' and jsonb_typeof(response_headers) = 'object'),
    constraint model_calls_metadata_check check (jsonb_typeof(metadata) = 'object')
) partition by range (created_at);

comment on table recall.model_calls is
    'Call log: model calls with their bodies; credentials are masked; by month (UTC).';
comment on column recall.model_calls.user_id is 'User for whom the call was made.';
comment on column recall.model_calls.call_id is
    'UUIDv7; conversation_history.model_call_id of the messages that resulted from the call.';
comment on column recall.model_calls.created_at is 'The time in call_id.';
comment on column recall.model_calls.session_id is 'Session of the call or of the job; NULL: none.';
comment on column recall.model_calls.job_id is 'The job, if a worker made the call.';
comment on column recall.model_calls.provider is 'Name of the provider, such as openai.';
comment on column recall.model_calls.endpoint is 'URL or path; credentials in it are masked.';
comment on column recall.model_calls.model is 'Name of the model.';
comment on column recall.model_calls.request is
    'The request as JSON, for queries, with NUL replaced by U+FFFD; NULL when it is not JSON.';
comment on column recall.model_calls.response is 'The response in the same form.';
comment on column recall.model_calls.usage is 'Usage as reported by the provider.';
comment on column recall.model_calls.error is 'Error message, if the call failed.';
comment on column recall.model_calls.request_id is 'The provider''s id of the request.';
comment on column recall.model_calls.status_code is 'HTTP status.';
comment on column recall.model_calls.started_at is 'When the request was sent.';
comment on column recall.model_calls.completed_at is 'When the response was complete.';
comment on column recall.model_calls.latency_ms is 'Milliseconds from started_at to completed_at.';
comment on column recall.model_calls.prompt_tokens is
    'Prompt tokens in usage, whatever the provider calls them.';
comment on column recall.model_calls.completion_tokens is 'Completion tokens in usage.';
comment on column recall.model_calls.cached_tokens is 'Prompt tokens that came from a cache.';
comment on column recall.model_calls.reasoning_tokens is
    'Completion tokens that the provider does not show.';
comment on column recall.model_calls.cost_microcents is
    'Micro-cents, as given by the caller or computed from `models`.';
comment on column recall.model_calls.is_stream is
    'Whether the response was streamed; see stream_events.';
comment on column recall.model_calls.request_body is
    'The request byte for byte, credentials masked; NULL when only JSON was given.';
comment on column recall.model_calls.response_body is 'The response in the same form.';
comment on column recall.model_calls.request_headers is
    'Request headers that are on the list of harmless ones.';
comment on column recall.model_calls.response_headers is 'Response headers that are on that list.';
comment on column recall.model_calls.metadata is
    'Other data; "truncated" gives the original size in bytes of a body that was cut.';

create table if not exists recall.stream_events (
    user_id        uuid        not null,
    call_id        uuid        not null,
    event_index    integer     not null,
    created_at     timestamptz not null,
    occurred_at    timestamptz,
    event_type     text,
    text_delta     text,
    payload        jsonb,
    binary_payload bytea,
    mime_type      text,
    constraint stream_events_pkey primary key (user_id, call_id, event_index, created_at),
    constraint stream_events_event_index_check check (event_index >= 0)
) partition by range (created_at);

comment on table recall.stream_events is
    'Call log: events of streamed calls, one row each; by month (UTC).';
comment on column recall.stream_events.user_id is 'User for whom the call was made.';
comment on column recall.stream_events.call_id is 'The call.';
comment on column recall.stream_events.event_index is 'Position in the stream, from 0.';
comment on column recall.stream_events.created_at is
    'The time in call_id, which puts the event in the month of its call.';
comment on column recall.stream_events.occurred_at is 'When the event arrived.';
comment on column recall.stream_events.event_type is
    'Type of the event, such as chat.completion.chunk.';
comment on column recall.stream_events.text_delta is 'The text that the event adds.';
comment on column recall.stream_events.payload is 'The event as JSON.';
comment on column recall.stream_events.binary_payload is
    'An event that is not JSON: audio, or text with a NUL (mime_type application/json).';
comment on column recall.stream_events.mime_type is 'MIME type of binary_payload.';

create table if not exists recall.protocol_events (
    user_id      uuid        not null,
    event_id     uuid        not null,
    created_at   timestamptz not null,
    session_id   uuid,
    call_id      uuid,
    event_type   text        not null,
    direction    text,
    method       text,
    rpc_id       text,
    tool_name    text,
    tool_call_id text,
    payload      jsonb,
    payload_body bytea,
    metadata     jsonb       not null default '{}',
    constraint protocol_events_pkey primary key (user_id, event_id, created_at),
    constraint protocol_events_metadata_check check (jsonb_typeof(metadata) = 'object')
) partition by range (created_at);

comment on table recall.protocol_events is
    'Call log: traffic with tools (calls, MCP, JSON-RPC); by month (UTC).';
comment on column recall.protocol_events.user_id is 'User for whom the event was recorded.';
comment on column recall.protocol_events.event_id is 'UUIDv7.';
comment on column recall.protocol_events.created_at is 'The time in event_id.';
comment on column recall.protocol_events.session_id is 'Session of the event; NULL: none.';
comment on column recall.protocol_events.call_id is 'Model call that the event belongs to.';
comment on column recall.protocol_events.event_type is 'Such as tool_call, tool_result, mcp.';
comment on column recall.protocol_events.direction is 'Such as request, response, notification.';
comment on column recall.protocol_events.method is 'Such as tools/call.';
comment on column recall.protocol_events.rpc_id is 'Id of a JSON-RPC request.';
comment on column recall.protocol_events.tool_name is 'The tool.';
comment on column recall.protocol_events.tool_call_id is 'The model''s id of the call.';
comment on column recall.protocol_events.payload is 'The message as JSON, for queries.';
comment on column recall.protocol_events.payload_body is
    'The message byte for byte, credentials masked; NULL when only JSON was given.';
comment on column recall.protocol_events.metadata is 'Other data.';
