-- Model calls of jobs, and what they cost.
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
    constraint model_spending_totals_cost_microcents_check check (cost_microcents >= 0)
) with (fillfactor = 70);

comment on table recall.model_spending_totals is
    'Cost of the jobs of all users: the sum of a day''s rows. Each transaction increments a row '
    'that is free, or adds one, so that workers do not wait for each other.';
comment on column recall.model_spending_totals.day is 'UTC.';
comment on column recall.model_spending_totals.shard is 'Tells the rows of a day apart.';
comment on column recall.model_spending_totals.cost_microcents is
    'Micro-cents, including users erased since.';
