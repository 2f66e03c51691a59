-- The ledger: what was sent to models and tools and what came back, whole, without credentials. An
-- id is a UUIDv7 whose time is created_at, so that an id finds its month and is there only once;
-- the events of a stream lie in the month of their call, and go with it.
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
    'Ledger: calls of models with their bodies; credentials are masked; by month (UTC).';
comment on column recall.model_calls.user_id is 'For whom it was.';
comment on column recall.model_calls.call_id is
    'UUIDv7; conversation_history.model_call_id of the messages that came of it.';
comment on column recall.model_calls.created_at is 'The time in call_id.';
comment on column recall.model_calls.session_id is
    'The session, if it was in one, or that of the job.';
comment on column recall.model_calls.job_id is 'The job, if a worker asked.';
comment on column recall.model_calls.provider is 'Such as openai.';
comment on column recall.model_calls.endpoint is 'URL or path; credentials in it are masked.';
comment on column recall.model_calls.model is 'Name of the model.';
comment on column recall.model_calls.request is
    'The request as JSON, for queries (a NUL is U+FFFD here); NULL when it is none.';
comment on column recall.model_calls.response is 'The same of the response.';
comment on column recall.model_calls.usage is 'What the provider says was used.';
comment on column recall.model_calls.error is 'What went wrong, when it did.';
comment on column recall.model_calls.request_id is 'The provider''s id of the request.';
comment on column recall.model_calls.status_code is 'HTTP status.';
comment on column recall.model_calls.started_at is 'When it was sent.';
comment on column recall.model_calls.completed_at is 'When the last of the response was there.';
comment on column recall.model_calls.latency_ms is 'Milliseconds between the two.';
comment on column recall.model_calls.prompt_tokens is 'Of usage, whatever the provider calls it.';
comment on column recall.model_calls.completion_tokens is 'Of usage.';
comment on column recall.model_calls.cached_tokens is 'Of the prompt''s, those from a cache.';
comment on column recall.model_calls.reasoning_tokens is 'Of the completion''s, those not shown.';
comment on column recall.model_calls.cost_microcents is
    'Micro-cents, as the caller says or by `models`.';
comment on column recall.model_calls.is_stream is 'Whether it was streamed: see stream_events.';
comment on column recall.model_calls.request_body is
    'The request byte for byte, credentials masked; NULL when only JSON was given.';
comment on column recall.model_calls.response_body is 'The same of the response.';
comment on column recall.model_calls.request_headers is 'Those on the list of harmless ones.';
comment on column recall.model_calls.response_headers is 'The same of the response.';
comment on column recall.model_calls.metadata is
    'Anything else; "truncated" says how many bytes a body had that was cut.';

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
    'Ledger: what a streamed call sent, event by event; by month (UTC).';
comment on column recall.stream_events.user_id is 'For whom it was.';
comment on column recall.stream_events.call_id is 'The call.';
comment on column recall.stream_events.event_index is 'From 0.';
comment on column recall.stream_events.created_at is 'The time in call_id: the call''s month.';
comment on column recall.stream_events.occurred_at is 'When it came.';
comment on column recall.stream_events.event_type is 'Such as chat.completion.chunk.';
comment on column recall.stream_events.text_delta is 'The piece of text that it brought.';
comment on column recall.stream_events.payload is 'The event as JSON.';
comment on column recall.stream_events.binary_payload is
    'What is no JSON: audio, or an event whose text holds a NUL (mime_type application/json).';
comment on column recall.stream_events.mime_type is 'What binary_payload is.';

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
    'Ledger: traffic with tools: calls, MCP, JSON-RPC; by month (UTC).';
comment on column recall.protocol_events.user_id is 'For whom it was.';
comment on column recall.protocol_events.event_id is 'UUIDv7.';
comment on column recall.protocol_events.created_at is 'The time in event_id.';
comment on column recall.protocol_events.session_id is 'The session, if it was in one.';
comment on column recall.protocol_events.call_id is 'The model call that it belongs to.';
comment on column recall.protocol_events.event_type is 'Such as tool_call, tool_result, mcp.';
comment on column recall.protocol_events.direction is 'Such as request, response, notification.';
comment on column recall.protocol_events.method is 'Such as tools/call.';
comment on column recall.protocol_events.rpc_id is 'Id of a JSON-RPC request.';
comment on column recall.protocol_events.tool_name is 'The tool.';
comment on column recall.protocol_events.tool_call_id is 'The model''s id of the call.';
comment on column recall.protocol_events.payload is 'The message as JSON, for queries.';
comment on column recall.protocol_events.payload_body is
    'The message byte for byte, credentials masked; NULL when only JSON was given.';
comment on column recall.protocol_events.metadata is 'Anything else.';
