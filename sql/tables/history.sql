-- Messages of sessions, INSERT only.
-- Later facts about a message are in message_annotations, in the ranges of the session or in
-- message_search. The primary key serves every read, which saves an index per partition; the order
-- is always turn_index.
create table if not exists recall.conversation_history (
    user_id           uuid                not null,
    session_id        uuid                not null,
    turn_index        integer             not null,
    created_at        timestamptz         not null,
    message_id        uuid                not null,
    role              recall.message_role not null,
    content           text,
    content_parts     jsonb,
    name              text,
    tool_calls        jsonb,
    tool_call_id      text,
    content_hash      bytea               not null,
    token_count       integer             not null,
    tokens_estimated  boolean             not null default false,
    model_id          text,
    finish_reason     text,
    prompt_tokens     integer,
    completion_tokens integer,
    cost_microcents   bigint,
    latency_ms        integer,
    model_call_id     uuid,
    metadata          jsonb               not null default '{}',
    constraint conversation_history_pkey
        primary key (user_id, session_id, turn_index, created_at),
    constraint conversation_history_numbers_check check (least(turn_index - 1, token_count) >= 0),
    constraint conversation_history_content_check
        check (content is null or content_parts is null),
    constraint conversation_history_tools_check check (
        (tool_calls is null or role = 'assistant')
        and (role = 'tool') = (tool_call_id is not null)),
    constraint conversation_history_metadata_check check (metadata @> '{}')
) partition by hash (user_id);

comment on table recall.conversation_history is
    'All messages in the OpenAI chat format; append-only, partitioned by user and month (UTC).';
comment on column recall.conversation_history.user_id is 'Owner.';
comment on column recall.conversation_history.session_id is 'The session.';
comment on column recall.conversation_history.turn_index is '1 to n in the session, without gaps.';
comment on column recall.conversation_history.created_at is
    'Time of the message: the clock, never before last_message_at; or as given (imports).';
comment on column recall.conversation_history.message_id is 'UUIDv7.';
comment on column recall.conversation_history.role is 'Role of the author.';
comment on column recall.conversation_history.content is
    'Text, or NULL when the message has parts or no content.';
comment on column recall.conversation_history.content_parts is 'Multimodal content, as given.';
comment on column recall.conversation_history.name is 'Name of the speaker or function.';
comment on column recall.conversation_history.tool_calls is
    'Calls of an assistant message, as given.';
comment on column recall.conversation_history.tool_call_id is
    'The call that a tool message answers.';
comment on column recall.conversation_history.content_hash is 'recall.message_hash of the message.';
comment on column recall.conversation_history.token_count is
    'Tokens of content or parts, name and tool calls.';
comment on column recall.conversation_history.tokens_estimated is
    'Whether token_count is a safe estimate, because the caller gave none.';
comment on column recall.conversation_history.model_id is 'Model that wrote the message.';
comment on column recall.conversation_history.finish_reason is 'As reported by the provider.';
comment on column recall.conversation_history.prompt_tokens is
    'Prompt tokens of the call that produced the message.';
comment on column recall.conversation_history.completion_tokens is
    'Completion tokens of that call.';
comment on column recall.conversation_history.cost_microcents is
    'Cost of that call in micro-cents.';
comment on column recall.conversation_history.latency_ms is 'Milliseconds of that call.';
comment on column recall.conversation_history.model_call_id is 'The call in model_calls.';
comment on column recall.conversation_history.metadata is 'Metadata of the application.';

create table if not exists recall.append_receipts (
    user_id        uuid        not null,
    request_id     uuid        not null,
    session_id     uuid        not null,
    payload_hash   bigint,
    from_turn      integer     not null,
    to_turn        integer     not null,
    created_at     timestamptz not null,
    payload_digest bytea,
    constraint append_receipts_pkey primary key (user_id, request_id)
) partition by hash (user_id);

comment on table recall.append_receipts is
    'Request ids of completed appends: a repeated append returns the same result and inserts '
    'nothing.';
comment on column recall.append_receipts.user_id is 'Owner.';
comment on column recall.append_receipts.request_id is 'Chosen by the caller.';
comment on column recall.append_receipts.session_id is 'The session.';
comment on column recall.append_receipts.payload_hash is
    'Hash of the payload in receipts of release 0.1.0; else NULL.';
comment on column recall.append_receipts.from_turn is 'First turn of the append.';
comment on column recall.append_receipts.to_turn is 'Last turn of the append.';
comment on column recall.append_receipts.created_at is
    'End of the minute of the append, so that the BRIN index of purge_expired is written once a '
    'minute. Receipts are kept for settings.receipt_ttl.';
comment on column recall.append_receipts.payload_digest is
    'SHA-256 of messages and usage; another payload with the same id raises RC008. NULL in '
    'receipts of release 0.1.0, and of erased messages.';

create table if not exists recall.message_words (
    user_id      uuid     not null,
    session_id   uuid     not null,
    before_turn  integer  not null,
    through_turn integer  not null,
    words        tsvector not null,
    constraint message_words_pkey primary key (user_id, session_id, through_turn)
) partition by hash (user_id);

comment on table recall.message_words is
    'Inverted index of message_search: a row holds the words of up to 250 turns. A search of very '
    'many turns reads these rows, and the turns of message_search behind the last row of a '
    'session.';
comment on column recall.message_words.user_id is 'Owner.';
comment on column recall.message_words.session_id is 'The session.';
comment on column recall.message_words.before_turn is
    'The turn before the first one, so that turn_index = before_turn + position.';
comment on column recall.message_words.through_turn is 'The last turn.';
comment on column recall.message_words.words is
    'Each word with the positions of the turns that contain it.';

create table if not exists recall.message_annotations (
    user_id       uuid        not null,
    session_id    uuid        not null,
    turn_index    integer     not null,
    annotation_id uuid        not null,
    patch         jsonb       not null,
    created_at    timestamptz not null,
    constraint message_annotations_pkey
        primary key (user_id, session_id, turn_index, annotation_id),
    constraint message_annotations_patch_check check (jsonb_typeof(patch) = 'object')
) partition by hash (user_id);

comment on table recall.message_annotations is
    'Later additions to the metadata of a message: patches, of which the latest wins.';
comment on column recall.message_annotations.user_id is 'Owner.';
comment on column recall.message_annotations.session_id is 'The session.';
comment on column recall.message_annotations.turn_index is 'The message.';
comment on column recall.message_annotations.annotation_id is 'UUIDv7.';
comment on column recall.message_annotations.patch is 'Keys to set; null removes a key.';
comment on column recall.message_annotations.created_at is
    'Time of the patch, which orders the patches.';
