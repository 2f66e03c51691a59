-- Queue for work that needs a model. A finished job is deleted; its spans stay.
create table if not exists recall.jobs (
    user_id      uuid             not null,
    job_id       uuid             not null,
    kind         text             not null,
    state        recall.job_state not null default 'ready',
    session_id   uuid,
    dedupe_key   text,
    payload      jsonb            not null default '{}',
    priority     smallint         not null default 100,
    run_at       timestamptz      not null,
    attempts     integer          not null default 0,
    max_attempts integer          not null,
    lease_until  timestamptz,
    lease_token  uuid,
    worker       text,
    lease        interval,
    work         jsonb,
    last_error   text,
    created_at   timestamptz      not null,
    vectors      halfvec[],
    constraint jobs_pkey primary key (user_id, job_id),
    constraint jobs_kind_check
        check (kind in ('extract', 'embed', 'summarize', 'compact', 'merge', 'pattern')),
    constraint jobs_payload_check check (jsonb_typeof(payload) = 'object'),
    constraint jobs_attempts_check check (attempts >= 0 and max_attempts >= 1),
    constraint jobs_lease_check check (
        (state = 'running') = (lease_until is not null)
        and (state = 'running') = (lease_token is not null)
        and (state = 'running') = (worker is not null))
) with (fillfactor = 70);

comment on table recall.jobs is
    'Work that needs a model: ready, running under a lease, or dead. A logged table that stays '
    'small.';
comment on column recall.jobs.user_id is 'Owner of the data.';
comment on column recall.jobs.job_id is 'UUIDv7.';
comment on column recall.jobs.kind is 'extract, embed, summarize, compact, merge or pattern.';
comment on column recall.jobs.state is 'State of the job: ready, running or dead.';
comment on column recall.jobs.session_id is 'The session that the job works on.';
comment on column recall.jobs.dedupe_key is
    'At most one ready job exists for a user, kind and key.';
comment on column recall.jobs.payload is 'Parameters of the job.';
comment on column recall.jobs.priority is 'Lower values run first.';
comment on column recall.jobs.run_at is 'The job does not run before this time.';
comment on column recall.jobs.attempts is 'How many times the job was claimed.';
comment on column recall.jobs.max_attempts is 'The job is dead after this many attempts.';
comment on column recall.jobs.lease_until is 'End of the worker''s lease.';
comment on column recall.jobs.lease_token is
    'Random for each claim; rejects a worker whose lease has passed to another.';
comment on column recall.jobs.worker is 'Worker that has the lease.';
comment on column recall.jobs.lease is 'Length of the lease; each request renews it for this long.';
comment on column recall.jobs.work is
    'State of the job: what the worker offers, the request in flight, and the models'' answers so '
    'far. It contains ids and the models'' own words, never the texts of the request. See '
    'recall.next_request.';
comment on column recall.jobs.last_error is 'Error of the last failed attempt.';
comment on column recall.jobs.created_at is 'Time of enqueueing.';
comment on column recall.jobs.vectors is
    'Vectors of the texts that the step has produced, in their order, by the embedder in work.';

create table if not exists recall.job_phases (
    user_id           uuid             not null,
    job_id            uuid             not null,
    phase_id          uuid             not null,
    kind              text             not null,
    session_id        uuid,
    phase             text             not null,
    created_at        timestamptz      not null,
    duration_ms       double precision not null,
    items             integer          not null default 0,
    prompt_tokens     integer          not null default 0,
    completion_tokens integer          not null default 0,
    cost_microcents   bigint           default 0,
    model_id          text,
    error             text,
    from_turn         integer,
    to_turn           integer,
    constraint job_phases_pkey primary key (user_id, job_id, phase_id, created_at),
    constraint job_phases_numbers_check check (
        duration_ms >= 0 and items >= 0 and prompt_tokens >= 0 and completion_tokens >= 0
        and cost_microcents >= 0)
) partition by range (created_at);

comment on table recall.job_phases is
    'A span for each phase of a job: extract, embed, consolidate, persist, summary; by month '
    '(UTC).';
comment on column recall.job_phases.user_id is 'Owner of the data.';
comment on column recall.job_phases.job_id is 'The job.';
comment on column recall.job_phases.phase_id is 'UUIDv7.';
comment on column recall.job_phases.kind is 'Kind of the job.';
comment on column recall.job_phases.session_id is 'The session that the job worked on.';
comment on column recall.job_phases.phase is 'Name of the phase.';
comment on column recall.job_phases.created_at is 'Time of recording.';
comment on column recall.job_phases.duration_ms is 'Milliseconds.';
comment on column recall.job_phases.items is 'Number of messages, candidates or texts handled.';
comment on column recall.job_phases.prompt_tokens is 'Prompt tokens of the phase''s model calls.';
comment on column recall.job_phases.completion_tokens is
    'Completion tokens of the phase''s model calls.';
comment on column recall.job_phases.cost_microcents is
    'Cost in micro-cents; NULL: the phase used tokens of a model without a price.';
comment on column recall.job_phases.model_id is 'Model called.';
comment on column recall.job_phases.error is 'Error message, if the phase failed.';
comment on column recall.job_phases.from_turn is
    'First turn that an extraction has read, in the span of its effect (persist); else NULL.';
comment on column recall.job_phases.to_turn is 'Last turn that it has read.';

-- Cost of jobs, in a table that a claim can read: there are too many spans to add up.
create table if not exists recall.model_spending (
    user_id         uuid   not null,
    day             date   not null,
    cost_microcents bigint not null,
    constraint model_spending_pkey primary key (user_id, day),
    constraint model_spending_cost_microcents_check check (cost_microcents >= 0)
) with (fillfactor = 70);

comment on table recall.model_spending is
    'Cost of a user''s jobs by day; job_phases has the details.';
comment on column recall.model_spending.user_id is 'Owner of the data.';
comment on column recall.model_spending.day is 'UTC.';
comment on column recall.model_spending.cost_microcents is
    'Micro-cents, including failed attempts.';

create table if not exists recall.model_spending_totals (
    day             date     not null,
    shard           smallint not null,
    cost_microcents bigint   not null,
    constraint model_spending_totals_pkey primary key (day, shard),
    constraint model_spending_totals_shard_check check (shard between 0 and 63),
    constraint model_spending_totals_cost_microcents_check check (cost_microcents >= 0)
) with (fillfactor = 70);

comment on table recall.model_spending_totals is
    'Cost of the jobs of all users: the sum of a day''s rows. Each connection increments one of '
    'several rows, so that workers do not wait for each other.';
comment on column recall.model_spending_totals.day is 'UTC.';
comment on column recall.model_spending_totals.shard is 'Row of the connection (0 to 63).';
comment on column recall.model_spending_totals.cost_microcents is
    'Micro-cents, including users erased since.';
