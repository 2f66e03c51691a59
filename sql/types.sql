-- Types. Enums stay in an upgrade; composite types are created again (see upgrade.sql).
-- Closed sets are enums: SQL reads as words and compares as integers.
-- The order of a type is part of its meaning (memory_tier: how settled a memory is).
do $types$
begin
    if to_regtype('recall.session_status') is null then
        create type recall.session_status as enum ('active', 'paused', 'closed', 'expired');
    end if;
    if to_regtype('recall.message_role') is null then
        create type recall.message_role as enum
            ('system', 'developer', 'user', 'assistant', 'tool', 'function');
    end if;
    if to_regtype('recall.memory_tier') is null then
        create type recall.memory_tier as enum
            ('working', 'session', 'episodic', 'semantic', 'procedural');
    end if;
    if to_regtype('recall.memory_scope') is null then
        create type recall.memory_scope as enum ('local', 'global');
    end if;
    if to_regtype('recall.provenance') is null then
        create type recall.provenance as enum
            ('user_stated', 'correction', 'instruction', 'preference', 'fact', 'tool_output',
             'system_inferred');
    end if;
    if to_regtype('recall.job_state') is null then
        create type recall.job_state as enum ('ready', 'running', 'dead');
    end if;
end;
$types$;

create type recall.memory_filter as (
    is_empty          boolean,
    kinds             text[],
    kinds_none        text[],
    tiers             recall.memory_tier[],
    scopes            recall.memory_scope[],
    slots             text[],
    tags_any          text[],
    tags_all          text[],
    provenance        recall.provenance[],
    source            text[],
    source_session_id uuid,
    agent_id          text,
    session_id        uuid,
    metadata          jsonb,
    observed_after    timestamptz,
    observed_before   timestamptz,
    valid_at          timestamptz,
    include_ended     boolean,
    min_similarity    real,
    min_match         real,
    stale             boolean,
    stale_importance  real,
    stale_before      timestamptz
);

comment on type recall.session_status is
    'State of a session: active accepts messages; paused, closed and expired do not.';
comment on type recall.message_role is 'Role of a message''s author, as in the OpenAI chat format.';
comment on type recall.memory_tier is
    'How settled a memory is: working (L0), session (L1), episodic (L2), semantic (L3), '
    'procedural (L4).';
comment on type recall.memory_scope is
    'Where a memory applies: local (its session and those that continue it) or global (the user).';
comment on type recall.provenance is
    'Source of a memory, from the highest authority to the lowest.';
comment on type recall.job_state is
    'A job waits (ready), is leased by a worker (running) or has failed permanently (dead).';
comment on type recall.memory_filter is
    'A parsed filter over memories; a NULL field matches everything. Beside stale stand the '
    'thresholds that define it.';

-- The context module passes the message that started a turn in this type.
create type recall.current_task as (
    turn_index  integer,
    message_id  uuid,
    message     jsonb,
    token_count integer,
    place       integer
);

comment on type recall.current_task is
    'The user message that started the current turn; place: its position, newest first, in the '
    'history that was read, or NULL.';

-- The retrieval module passes turns from ranking to reading in this type.
create type recall.found_turn as (
    session_id    uuid,
    turn_index    integer,
    created_at    timestamptz,
    score         double precision,
    similarity    double precision,
    lexical       double precision,
    own_part      double precision,
    neighbor_part double precision,
    session_part  double precision,
    memory_part   double precision,
    speaker_part  double precision,
    feedback_part double precision
);

comment on type recall.found_turn is 'A turn that a search found, and the terms of its score.';

-- A search of messages filters whole sessions first, then turns by their metadata.
create type recall.message_filter as (
    session_ids   uuid[],
    since         timestamptz,
    until         timestamptz,
    roles         recall.message_role[],
    turn_sessions uuid[],
    turn_indexes  integer[]
);

comment on type recall.message_filter is
    'A filter over messages, parsed once per call; a NULL field matches everything.';

-- The retrieval module passes sessions from ranking to reading their best turns in this type.
create type recall.found_session as (
    session_id uuid,
    title      text,
    summary    text,
    similarity double precision,
    lexical    double precision,
    topic_part double precision,
    turn_part  double precision,
    active_at  timestamptz,
    turn       recall.found_turn
);

comment on type recall.found_session is
    'A session that a search found, the terms of its score, and its best turn.';

-- The context module quotes older turns in this type.
create type recall.recalled_turn as (
    message_id         uuid,
    session_id         uuid,
    turn_index         integer,
    line               text,
    created_at         timestamptz,
    session_created_at timestamptz,
    token_count        integer,
    score              double precision,
    heading            text,
    heading_tokens     integer
);

comment on type recall.recalled_turn is
    'An older turn as a line of a context under the heading of its session and day, with the '
    'tokens of both.';

-- The retrieval module passes memories from finding to ranking, and returns search results.
create type recall.memory_candidate as (
    memory_id       uuid,
    similarity      double precision,
    lexical         double precision,
    similarity_term double precision,
    lexical_term    double precision
);

create type recall.score_weights as (
    similarity double precision,
    lexical    double precision,
    freshness  double precision,
    frequency  double precision,
    authority  double precision,
    importance double precision
);

create type recall.found_memory as (
    memory_id       uuid,
    content         text,
    kind            text,
    tier            text,
    score           double precision,
    relevance       double precision,
    match           double precision,
    similarity      double precision,
    lexical         double precision,
    freshness       double precision,
    frequency       double precision,
    authority       double precision,
    importance      real,
    confidence      real,
    tags            text[],
    observed_at     timestamptz,
    created_at      timestamptz,
    token_count     integer,
    slot            text,
    scope           text,
    provenance      text,
    source_turn_ids uuid[],
    access_count    integer,
    session_id      uuid,
    similarity_part double precision,
    lexical_part    double precision,
    freshness_part  double precision,
    frequency_part  double precision,
    authority_part  double precision,
    importance_part double precision,
    decay           double precision
);

create type recall.call_usage as (
    prompt_tokens     integer,
    completion_tokens integer,
    cached_tokens     integer,
    latency_ms        integer,
    cost_microcents   bigint
);

comment on type recall.memory_candidate is
    'A memory that a search compared: cosine, share of words, and the two normalized for the '
    'score.';
comment on type recall.score_weights is 'Weights of the terms of a score.';
comment on type recall.found_memory is 'A row of recall.search, which documents its columns.';
comment on type recall.call_usage is
    'Usage of a model call as given: a NULL is unknown; the cost may have to be computed from '
    'prices.';

-- The comparison of statements passes words from one step to the next.
create type recall.statement_word as (
    ordinal      integer,
    place        integer,
    clause       integer,
    kind         text,
    form         text,
    negated_from integer
);

create type recall.shared_word as (
    ordinal   integer,
    said_at   integer,
    kind      text,
    form      text,
    place     integer,
    clause    integer,
    says_form text,
    is_kept   boolean
);

comment on type recall.statement_word is
    'A word of a merged text (ordinal 0) or of one of its parts (1, 2, …); negated_from: the place '
    'of the first negation in its clause.';
comment on type recall.shared_word is
    'A word of a part (ordinal, said_at, kind, form) that the merged text has, too (place, clause, '
    'says_form), and whether it is negated in both or in neither (is_kept).';

-- Public functions return rows of these types.
create type recall.memory_row as (
    memory_id         uuid,
    content           text,
    kind              text,
    slot              text,
    tier              text,
    scope             text,
    tags              text[],
    importance        real,
    confidence        real,
    provenance        text,
    source            text,
    source_session_id uuid,
    observed_at       timestamptz,
    valid_from        timestamptz,
    valid_to          timestamptz,
    created_at        timestamptz,
    expires_at        timestamptz,
    ended_at          timestamptz,
    end_reason        text,
    superseded_by     uuid,
    is_active         boolean,
    access_count      integer,
    metadata          jsonb,
    session_id        uuid,
    agent_id          text,
    token_count       integer,
    source_turn_ids   uuid[],
    last_accessed_at  timestamptz,
    is_validated      boolean,
    review_at         timestamptz,
    updated_at        timestamptz
);

create type recall.session_row as (
    session_id              uuid,
    status                  text,
    model_id                text,
    agent_id                text,
    title                   text,
    turn_count              integer,
    active_tokens           bigint,
    total_prompt_tokens     bigint,
    total_completion_tokens bigint,
    total_cost_microcents   bigint,
    created_at              timestamptz,
    updated_at              timestamptz,
    expires_at              timestamptz,
    metadata                jsonb,
    context_window_size     integer,
    max_response_tokens     integer,
    system_prompt           text,
    system_prompt_tokens    integer,
    temperature             real,
    top_p                   real,
    cost_limit_microcents   bigint,
    parent_session_id       uuid,
    user_turn_count         integer,
    compacted_through_turn  integer,
    extracted_through_turn  integer,
    last_message_at         timestamptz
);

create type recall.found_message as (
    message_id    uuid,
    session_id    uuid,
    turn_index    integer,
    role          text,
    content       text,
    created_at    timestamptz,
    score         double precision,
    similarity    double precision,
    lexical       double precision,
    name          text,
    own_part      double precision,
    neighbor_part double precision,
    session_part  double precision,
    memory_part   double precision,
    token_count   integer,
    speaker_part  double precision,
    feedback_part double precision
);

comment on type recall.memory_row is
    'A row of recall.get_memory and of the other functions that return whole memories.';
comment on type recall.session_row is 'A row of recall.get_session and recall.list_sessions.';
comment on type recall.found_message is 'A row of recall.search_messages.';

-- Internal functions return several results in these types.
create type recall.placed_memory as (
    memory_id uuid,
    outcome   text
);

create type recall.quoted_statement as (
    is_proven  boolean,
    provenance recall.provenance,
    turn_ids   uuid[],
    metadata   jsonb
);

create type recall.found_candidates as (
    candidates    recall.memory_candidate[],
    largest_count integer
);

create type recall.sign_neighbors as (
    memory_ids uuid[],
    distances  double precision[]
);

create type recall.turn_keys as (
    session_ids  uuid[],
    turn_indexes integer[],
    weights      double precision[]
);

comment on type recall.placed_memory is 'A memory that was written, and how (outcome).';
comment on type recall.quoted_statement is
    'Whether the user''s words prove a text, and the provenance, turns and metadata that follow.';
comment on type recall.found_candidates is
    'Candidates of a search, and the largest access count among the compared memories.';
comment on type recall.sign_neighbors is
    'Memories whose vectors share most sign bits with a vector, nearest first, and how many bits '
    'differ (Hamming distance).';
comment on type recall.turn_keys is
    'Sessions and indexes of some turns; weights: the rarity of each word of the query.';
