-- Sessions: model, budgets, counters and cursors. Every append updates the row, so no index
-- contains a column that an append changes (HOT).
create table if not exists recall.sessions (
    user_id                 uuid                  not null,
    session_id              uuid                  not null,
    status                  recall.session_status not null default 'active',
    agent_id                text,
    title                   text,
    model_id                text                  not null,
    context_window_size     integer               not null,
    system_prompt_hash      bytea                 not null,
    system_prompt_tokens    integer               not null,
    temperature             real                  not null default 0.7,
    top_p                   real                  not null default 1.0,
    max_response_tokens     integer               not null,
    turn_count              integer               not null default 0,
    user_turn_count         integer               not null default 0,
    active_tokens           bigint                not null default 0,
    total_prompt_tokens     bigint                not null default 0,
    total_completion_tokens bigint                not null default 0,
    total_cost_microcents   bigint                not null default 0,
    updated_at              timestamptz           not null,
    last_message_at         timestamptz,
    retracted_turns         int4multirange        not null default '{}',
    compacted_through_turn  integer               not null default 0,
    first_retained_turn     integer               not null default 1,
    extracted_through_turn  integer               not null default 0,
    extracted_user_turns    integer               not null default 0,
    extraction_cursor       bytea,
    indexed_through_turn    integer               not null default 0,
    cost_limit_microcents   bigint,
    parent_session_id       uuid,
    compaction_due          boolean               not null default false,
    metadata                jsonb                 not null default '{}',
    created_at              timestamptz           not null,
    expires_at              timestamptz           not null,
    expires_in              interval,
    search_purge_at         timestamptz,
    constraint sessions_pkey primary key (user_id, session_id),
    -- Every update reads all CHECKs from the catalog and evaluates them, a seventh of the time of
    -- an append: keep them few and short. A quoted number has its column's type without a cast.
    constraint sessions_numbers_check check (
        least(context_window_size - 1, system_prompt_tokens, max_response_tokens, user_turn_count,
              compacted_through_turn, extracted_through_turn, indexed_through_turn,
              first_retained_turn - 1) >= 0),
    constraint sessions_sampling_check check (
        temperature between '0' and '2' and top_p > '0' and top_p <= '1'),
    constraint sessions_turns_check check (
        greatest(user_turn_count, compacted_through_turn, extracted_through_turn,
                 indexed_through_turn, first_retained_turn - 1) <= turn_count),
    constraint sessions_totals_check check (
        least(active_tokens, total_prompt_tokens, total_completion_tokens,
              total_cost_microcents, cost_limit_microcents) >= 0),
    constraint sessions_parent_session_id_check check (parent_session_id <> session_id),
    constraint sessions_last_message_at_check
        check ((last_message_at is null) = (turn_count = 0) and created_at <= last_message_at),
    constraint sessions_metadata_check check (metadata @> '{}')
) partition by hash (user_id);

comment on table recall.sessions is
    'Conversations: lifecycle, model, budgets, counters and cursors; an append updates the row '
    'once.';
comment on column recall.sessions.user_id is 'Owner.';
comment on column recall.sessions.session_id is 'UUIDv7 unless the caller chose it.';
comment on column recall.sessions.status is 'Only an active session accepts messages.';
comment on column recall.sessions.agent_id is 'The application''s agent of this session.';
comment on column recall.sessions.title is 'Title for lists.';
comment on column recall.sessions.model_id is 'Model of the next call.';
comment on column recall.sessions.context_window_size is 'Tokens of prompt and response together.';
comment on column recall.sessions.system_prompt_hash is 'Row of system_prompts.';
comment on column recall.sessions.system_prompt_tokens is 'Tokens of the system prompt.';
comment on column recall.sessions.temperature is 'Sampling temperature of the next call (0 to 2).';
comment on column recall.sessions.top_p is 'Nucleus sampling of the next call.';
comment on column recall.sessions.max_response_tokens is 'Tokens reserved for the response.';
comment on column recall.sessions.turn_count is 'Messages so far; turn_index runs from 1 to this.';
comment on column recall.sessions.user_turn_count is 'Messages of role user so far.';
comment on column recall.sessions.active_tokens is
    'Tokens of the turns that are neither compacted nor retracted.';
comment on column recall.sessions.retracted_turns is 'Ranges of retracted turns.';
comment on column recall.sessions.compacted_through_turn is
    'A summary represents the turns up to this one.';
comment on column recall.sessions.first_retained_turn is
    'Retention has dropped earlier turns, or drops them with their month.';
comment on column recall.sessions.extracted_through_turn is
    'Extraction has processed the turns up to this one.';
comment on column recall.sessions.extracted_user_turns is 'User turns among these.';
comment on column recall.sessions.extraction_cursor is
    'Content hash of the last processed message.';
comment on column recall.sessions.indexed_through_turn is
    'message_search holds the turns up to this one.';
comment on column recall.sessions.total_prompt_tokens is
    'Prompt tokens so far, of its turns and jobs; never decreases.';
comment on column recall.sessions.total_completion_tokens is
    'Completion tokens so far, of its turns and jobs; never decreases.';
comment on column recall.sessions.total_cost_microcents is
    'Cost so far in micro-cents, of its turns and jobs; never decreases.';
comment on column recall.sessions.cost_limit_microcents is
    'Cost from which compile_context raises an error; NULL: no limit.';
comment on column recall.sessions.parent_session_id is 'The session that this one continues.';
comment on column recall.sessions.compaction_due is
    'Set when active_tokens exceed twice the window; a sweep finds the session by its index.';
comment on column recall.sessions.metadata is
    'Metadata of the application, and notes such as an assumed window.';
comment on column recall.sessions.created_at is
    'When it was opened, or the time of the first message when that is older (imports).';
comment on column recall.sessions.updated_at is 'Last change.';
comment on column recall.sessions.last_message_at is 'created_at of the last message.';
comment on column recall.sessions.expires_at is 'Moves with use in steps of a day.';
comment on column recall.sessions.expires_in is
    'Lifetime after the last message; NULL: settings.session_ttl.';
comment on column recall.sessions.search_purge_at is
    'When purge_expired must check message_search for compacted turns; NULL: there are none.';
