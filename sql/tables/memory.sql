-- Memories. A text is never edited in place: a new row supersedes the old one and the link stays.
-- Counting an access must stay a HOT update. Therefore no index contains a counted column, and the
-- vector is in a narrow table of its own.
create table if not exists recall.memory_store (
    user_id               uuid                not null,
    memory_id             uuid                not null,
    session_id            uuid,
    agent_id              text,
    tier                  recall.memory_tier  not null,
    scope                 recall.memory_scope not null,
    kind                  text                not null,
    slot                  text,
    content               text                not null,
    content_hash          bytea               not null,
    token_count           integer             not null,
    search_vector         tsvector            not null,
    provenance            recall.provenance   not null,
    source                text                not null,
    source_session_id     uuid,
    provenance_turn_id    uuid,
    source_turn_ids       uuid[]              not null default '{}',
    confidence            real                not null,
    importance            real                not null,
    relevance_accumulator real                not null default 0,
    access_count          integer             not null default 0,
    last_accessed_at      timestamptz,
    observed_at           timestamptz         not null,
    valid_from            timestamptz,
    valid_to              timestamptz,
    review_at             timestamptz,
    created_at            timestamptz         not null,
    updated_at            timestamptz         not null,
    expires_at            timestamptz,
    ended_at              timestamptz,
    end_reason            text,
    is_active             boolean             not null
                                              generated always as (ended_at is null) stored,
    is_validated          boolean             not null default false,
    promotion_due         boolean             not null default false,
    superseded_by         uuid,
    disputes              uuid,
    tags                  text[]              not null default '{}',
    metadata              jsonb               not null default '{}',
    follows_session       boolean             not null default false,
    has_expiry            boolean             not null
                                              generated always as (expires_at is not null) stored,
    check_at              timestamptz,
    embedding_due         boolean             not null default false,
    is_decaying           boolean             not null default false,
    constraint memory_store_pkey primary key (user_id, memory_id),
    -- Every write reads the CHECKs from the catalog: keep them short, as in sessions.
    constraint memory_store_content_check check (content <> ''),
    constraint memory_store_token_count_check check (token_count >= 0),
    constraint memory_store_tier_check check (tier <> 'working'),
    constraint memory_store_scope_check check ((scope = 'local') = (session_id is not null)),
    constraint memory_store_source_check check (
        source = any('{conversation,manual,inference,tool,consolidation,import}')),
    constraint memory_store_confidence_check check (confidence between '0' and '1'),
    constraint memory_store_importance_check check (importance between '0' and '1'),
    constraint memory_store_access_check check (
        access_count >= 0 and relevance_accumulator >= '0'
        and (access_count = 0) = (last_accessed_at is null)),
    constraint memory_store_validity_check check (valid_to >= valid_from),
    constraint memory_store_ended_check check ((ended_at is null) = (end_reason is null)),
    constraint memory_store_end_reason_check check (
        end_reason = any('{superseded,merged,retracted,expired,revoked,disputed}')),
    constraint memory_store_superseded_check check (
        superseded_by <> memory_id and (superseded_by is null or ended_at is not null)
        and (end_reason <> all('{superseded,merged}') or superseded_by is not null)),
    constraint memory_store_disputes_check
        check ((disputes is null) = (end_reason is distinct from 'disputed')),
    constraint memory_store_validated_check
        check (tier < 'episodic' or is_validated or ended_at is not null),
    constraint memory_store_metadata_check check (metadata @> '{}'),
    constraint memory_store_follows_session_check
        check (not follows_session or session_id is not null and expires_at is not null),
    constraint memory_store_is_decaying_check
        check (not is_decaying or expires_at is not null)
) partition by hash (user_id);

comment on table recall.memory_store is
    'Memories of the tiers session to procedural, current and ended; versions are linked by '
    'superseded_by.';
comment on column recall.memory_store.user_id is 'Owner.';
comment on column recall.memory_store.memory_id is 'UUIDv7.';
comment on column recall.memory_store.session_id is
    'Session that a local memory applies to; NULL: global.';
comment on column recall.memory_store.agent_id is 'Agent that added it.';
comment on column recall.memory_store.tier is 'How settled it is.';
comment on column recall.memory_store.scope is 'Where it applies.';
comment on column recall.memory_store.kind is 'Kind of memory: a row of memory_kinds.';
comment on column recall.memory_store.slot is 'Name of a single-valued attribute such as employer.';
comment on column recall.memory_store.content is 'One short self-contained statement.';
comment on column recall.memory_store.content_hash is 'SHA-256 of the normalized text.';
comment on column recall.memory_store.token_count is 'Tokens, given or estimated on the safe side.';
comment on column recall.memory_store.search_vector is 'Words, in the user''s language.';
comment on column recall.memory_store.provenance is
    'Authority of the memory: who or what stated it.';
comment on column recall.memory_store.source is
    'Path of entry: conversation, manual, inference, tool, consolidation or import.';
comment on column recall.memory_store.source_session_id is
    'Session that it was drawn from, also after it has become global.';
comment on column recall.memory_store.provenance_turn_id is 'Message that it was drawn from.';
comment on column recall.memory_store.source_turn_ids is 'Messages that support it.';
comment on column recall.memory_store.confidence is 'How certain it is (0 to 1).';
comment on column recall.memory_store.importance is 'How much it matters (0 to 1).';
comment on column recall.memory_store.relevance_accumulator is
    'Sum of the relevance of its accesses.';
comment on column recall.memory_store.access_count is
    'How many times it was packed into a context.';
comment on column recall.memory_store.last_accessed_at is 'Time of the last access.';
comment on column recall.memory_store.observed_at is 'When it was stated.';
comment on column recall.memory_store.valid_from is
    'Start of its validity in the world; NULL: open.';
comment on column recall.memory_store.valid_to is 'End of its validity in the world; NULL: open.';
comment on column recall.memory_store.review_at is 'When the user should be asked to confirm it.';
comment on column recall.memory_store.created_at is 'When it was recorded.';
comment on column recall.memory_store.updated_at is 'Last change of the row.';
comment on column recall.memory_store.expires_at is 'When it expires; NULL: never.';
comment on column recall.memory_store.ended_at is 'When it was ended; NULL: current.';
comment on column recall.memory_store.end_reason is
    'superseded, merged, retracted, expired, revoked, or disputed (never active).';
comment on column recall.memory_store.is_active is 'Whether it is current.';
comment on column recall.memory_store.is_validated is
    'Whether it counts as settled: its tier is episodic or higher, or validate_memory was called.';
comment on column recall.memory_store.promotion_due is
    'Set when an access crosses a promotion threshold; the promotion sweep finds the row by a '
    'partial index.';
comment on column recall.memory_store.superseded_by is 'The memory that replaced it.';
comment on column recall.memory_store.disputes is
    'The protected memory that a disputed one contradicts.';
comment on column recall.memory_store.tags is 'Labels for filters and consolidation.';
comment on column recall.memory_store.metadata is 'Metadata of the application.';
comment on column recall.memory_store.follows_session is
    'Whether expires_at moves with the end of its session.';
comment on column recall.memory_store.is_decaying is
    'Whether decay set its expiry; the next use removes that expiry.';
comment on column recall.memory_store.embedding_due is
    'Set on the first memory without a vector of a user whose embedding_due was not set.';
comment on column recall.memory_store.has_expiry is 'Whether expires_at is set.';
comment on column recall.memory_store.check_at is
    'When expire_memories or, without an expiry, decay_memories must check it; an access may make '
    'it too early, never too late. For an ended memory, when purge_expired may delete its '
    'vectors. Set by a trigger; NULL: never.';

create table if not exists recall.memory_events (
    user_id     uuid        not null,
    memory_id   uuid        not null,
    event_no    bigint      not null,
    at          timestamptz not null,
    event       text        not null,
    job_id      uuid,
    caller      text        not null,
    detail      jsonb       not null default '{}',
    memory_hash bytea,
    event_hash  bytea       not null,
    constraint memory_events_pkey primary key (user_id, memory_id, event_no),
    constraint memory_events_detail_check check (detail @> '{}')
) partition by hash (user_id);

comment on table recall.memory_events is
    'Audit of changes to memories: what, when, by whom and why. INSERT only.';
comment on column recall.memory_events.user_id is 'Owner.';
comment on column recall.memory_events.memory_id is
    'The memory; for event decided the job, whose decisions, prompts and models the event '
    'records; zeros in tombstones of erased memories.';
comment on column recall.memory_events.event_no is '1 to n of the user''s events, without gaps.';
comment on column recall.memory_events.at is 'Time of the event.';
comment on column recall.memory_events.event is
    'added, duplicate, merged, superseded, retracted, restored, embedded, disputed, decided, …; '
    'tombstone: the erased event, which a later event forgotten lists.';
comment on column recall.memory_events.job_id is 'The job that did it.';
comment on column recall.memory_events.caller is 'The login role that did it.';
comment on column recall.memory_events.detail is
    'Reason, and the other rows involved. For event decided: answer, and made_by, a list of '
    '{"prompt", "model"}; recall.memory_history shows made_by beside each event of the job.';
comment on column recall.memory_events.memory_hash is
    'SHA-256 of the memory after the event; NULL: the event has no memory.';
comment on column recall.memory_events.event_hash is
    'SHA-256 over the hash of the previous event and the content of this one: a hash chain.';

create unlogged table if not exists recall.memory_access_log (
    user_id     uuid        not null,
    memory_id   uuid        not null,
    relevance   real        not null,
    accessed_at timestamptz not null,
    constraint memory_access_log_relevance_check check (relevance between 0 and 1)
);

comment on table recall.memory_access_log is
    'Accesses not yet counted, added to memory_store in batches. UNLOGGED: a crash may lose some.';
comment on column recall.memory_access_log.user_id is 'Owner.';
comment on column recall.memory_access_log.memory_id is 'A memory that was packed into a context.';
comment on column recall.memory_access_log.relevance is 'Its classic score at the access (0 to 1).';
comment on column recall.memory_access_log.accessed_at is 'Time of the access.';

create unlogged table if not exists recall.user_locks (
    user_id uuid not null,
    constraint user_locks_pkey primary key (user_id)
);

comment on table recall.user_locks is
    'A row for each user with accesses or working memory: their writers lock it for share, an '
    'erasure for update. UNLOGGED, since a row lock of a logged table writes WAL and would have '
    'each of these writers wait for the disk.';
comment on column recall.user_locks.user_id is 'The user.';

create unlogged table if not exists recall.context_efficiency (
    measured_at timestamptz not null,
    efficiency  real        not null,
    constraint context_efficiency_efficiency_check check (efficiency between 0 and 1)
);

comment on table recall.context_efficiency is
    'Budget efficiency of some contexts of the last day. UNLOGGED: a crash empties it.';
comment on column recall.context_efficiency.measured_at is 'Time of the measurement.';
comment on column recall.context_efficiency.efficiency is
    'Score of the selection ÷ score of the best packing, times the share of the budget used (0 to '
    '1).';

create unlogged table if not exists recall.recall_samples (
    measured_at timestamptz not null,
    kind        text        not null,
    share       real        not null,
    constraint recall_samples_kind_check check (kind in ('memories', 'messages')),
    constraint recall_samples_share_check check (share between 0 and 1)
);

comment on table recall.recall_samples is
    'Recall of approximate searches, as measured by sample_recall in the last week. UNLOGGED: a '
    'crash empties it.';
comment on column recall.recall_samples.measured_at is 'Time of the measurement.';
comment on column recall.recall_samples.kind is 'Whether memories or messages were searched.';
comment on column recall.recall_samples.share is
    'Recall: share of the ten nearest vectors among the candidates of the search (0 to 1).';

create unlogged table if not exists recall.working_memory (
    user_id     uuid        not null,
    session_id  uuid        not null,
    task_id     text        not null,
    key         text        not null,
    value       jsonb       not null,
    token_count integer     not null,
    updated_at  timestamptz not null,
    expires_at  timestamptz not null,
    constraint working_memory_pkey primary key (user_id, session_id, task_id, key),
    constraint working_memory_token_count_check check (token_count >= 0)
);

comment on table recall.working_memory is
    'Intermediate results of a task (L0): keys and values that live for an hour. UNLOGGED: a '
    'crash empties it.';
comment on column recall.working_memory.user_id is 'Owner.';
comment on column recall.working_memory.session_id is 'The session.';
comment on column recall.working_memory.task_id is 'The task.';
comment on column recall.working_memory.key is 'Name of the value.';
comment on column recall.working_memory.value is 'The value.';
comment on column recall.working_memory.token_count is 'Tokens of key and value as JSON.';
comment on column recall.working_memory.updated_at is 'Last write.';
comment on column recall.working_memory.expires_at is
    'Reads ignore the value from this time on; a write renews it.';
