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
