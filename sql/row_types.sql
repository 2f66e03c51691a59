-- Types that functions pass from step to step. They contain rows of tables, so they follow the
-- tables.
create type recall.message_batch as (
    messages    recall.conversation_history[],
    first_at    timestamptz,
    last_at     timestamptz,
    turns       integer,
    user_turns  integer,
    token_count bigint,
    has_tools   boolean,
    usage_place integer
);

comment on type recall.message_batch is
    'The messages of an append as rows, their totals, and the index of the one with the usage.';

create type recall.context_request as (
    session         recall.sessions,
    settings        recall.settings,
    options         jsonb,
    query           text,
    query_embedding halfvec,
    as_of           timestamptz,
    favored         tstzrange,
    has_fixed       boolean,
    current_message jsonb,
    current_tokens  integer,
    heading         text,
    tool_tokens     bigint,
    overhead        bigint,
    available       bigint,
    stable          bigint
);

create type recall.history_window as (
    after_turn     integer,
    turns          integer[],
    ids            uuid[],
    messages       jsonb[],
    cumulative     bigint[],
    positions      bigint[],
    is_cut         boolean,
    is_sealed      boolean,
    left_out       jsonb,
    task           recall.current_task,
    kept           integer,
    is_short       boolean,
    summary_tokens bigint,
    task_tokens    bigint
);

create type recall.context_candidate as (
    found       recall.found_memory,
    content     text,
    token_count integer,
    taken       boolean,
    reason      text
);

create type recall.context_plan as (
    task               text,
    memories           recall.context_candidate[],
    memory_budget      bigint,
    memory_tokens      bigint,
    efficiency         double precision,
    recalled           recall.recalled_turn[],
    recalled_tokens    bigint,
    working            text,
    working_tokens     integer,
    summary            text,
    kept               integer,
    history            jsonb[],
    message_ids        uuid[],
    first_turn         integer,
    last_turn          integer,
    pinned_turn        integer,
    left_out           jsonb,
    truncated          boolean,
    budget             jsonb
);

comment on type recall.context_request is
    'The request for a context: session, settings, checked options, query, and the tokens that the '
    'window leaves. has_fixed: memories stay the same for a session; stable: the available tokens '
    'without a current message.';
comment on type recall.history_window is
    'The newest exchanges of a session, newest first, with cumulative tokens. kept: how many of '
    'them fit the share of history beside a summary and the current task.';
comment on type recall.context_candidate is
    'A found memory as a candidate of a context: its line''s text and tokens, whether it was '
    'taken, and why.';
comment on type recall.context_plan is
    'The parts of a context and the reasons for them: candidate memories, recalled turns, working '
    'memory, summary, history (newest first), and the tokens of each.';
