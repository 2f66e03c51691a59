-- Tables for operations: erasures, maintenance, applied versions, backfills.
create table if not exists recall.erasures (
    erasure_id uuid        not null,
    salt       bytea       not null,
    digest     bytea       not null,
    erased_at  timestamptz not null,
    counts     jsonb       not null,
    erased_by  xid8,
    constraint erasures_pkey primary key (erasure_id),
    constraint erasures_counts_check check (jsonb_typeof(counts) = 'object')
);

comment on table recall.erasures is
    'A salted digest of each erased user, with which replay_erasures erases the user again in a '
    'restored backup.';
comment on column recall.erasures.erasure_id is 'UUIDv7.';
comment on column recall.erasures.salt is 'Random, different in each row.';
comment on column recall.erasures.digest is 'SHA-256 of salt and user_id.';
comment on column recall.erasures.erased_at is 'Time of the erasure.';
comment on column recall.erasures.counts is 'Rows deleted, by table.';
comment on column recall.erasures.erased_by is
    'The erasing transaction, by which waiting calls recognize the erasure; NULL: added by '
    'replay_erasures.';

create table if not exists recall.maintenance_tasks (
    task        text        not null,
    schedule    text        not null,
    period      interval    not null,
    batch_size  integer     not null,
    budget      interval    not null,
    enabled     boolean     not null default true,
    last_run_at timestamptz,
    last_run_by text,
    last_result jsonb,
    failures    integer     not null default 0,
    last_user   uuid,
    position    jsonb,
    constraint maintenance_tasks_pkey primary key (task),
    constraint maintenance_tasks_period_check check (period > interval '0'),
    constraint maintenance_tasks_batch_size_check check (batch_size > 0),
    constraint maintenance_tasks_budget_check
        check (budget > interval '0' and budget <= interval '1 day'),
    constraint maintenance_tasks_last_run_by_check
        check (last_run_by in ('pg_cron', 'worker', 'call')),
    constraint maintenance_tasks_failures_check check (failures >= 0)
);

comment on table recall.maintenance_tasks is
    'Background tasks, their schedule and their last result.';
comment on column recall.maintenance_tasks.task is 'Name of the function.';
comment on column recall.maintenance_tasks.schedule is 'Cron expression, UTC.';
comment on column recall.maintenance_tasks.period is
    'How often a worker runs it where there is no pg_cron.';
comment on column recall.maintenance_tasks.batch_size is 'Rows per call.';
comment on column recall.maintenance_tasks.budget is
    'Time limit of the runs at one scheduled time; a run that takes twice as long is ended.';
comment on column recall.maintenance_tasks.enabled is 'Whether the task is scheduled.';
comment on column recall.maintenance_tasks.last_run_at is 'Time of the last run.';
comment on column recall.maintenance_tasks.last_run_by is
    'Caller of the last run: pg_cron, worker, or call (run_maintenance by hand).';
comment on column recall.maintenance_tasks.last_result is
    'Result of the last run: done, more and ms; error and sqlstate when it failed.';
comment on column recall.maintenance_tasks.failures is 'Failures since the last success.';
comment on column recall.maintenance_tasks.last_user is
    'For tasks that scan the users: the last user processed.';
comment on column recall.maintenance_tasks.position is
    'Where a scan over all users, or over the sessions of a month, continues, and its purpose.';

create table if not exists recall.migrations (
    version    text        not null,
    checksum   bytea       not null,
    applied_at timestamptz not null default clock_timestamp(),
    applied_by text        not null default session_user,
    objects    text[],
    constraint migrations_pkey primary key (version)
);

comment on table recall.migrations is 'Versions and migrations applied to this database.';
comment on column recall.migrations.version is 'Version, or name of a migration file.';
comment on column recall.migrations.checksum is 'SHA-256 of the file, or of the version''s name.';
comment on column recall.migrations.applied_at is 'Time of application.';
comment on column recall.migrations.applied_by is 'Login role that applied it.';
comment on column recall.migrations.objects is
    'Functions, composite types and triggers that the version created; NULL for a migration.';

create table if not exists recall.backfills (
    backfill      text        not null,
    migration     text        not null,
    table_name    text        not null,
    rows_done     bigint      not null default 0,
    registered_at timestamptz not null default now(),
    started_at    timestamptz,
    finished_at   timestamptz,
    constraint backfills_pkey primary key (backfill),
    constraint backfills_rows_done_check check (rows_done >= 0),
    constraint backfills_finished_at_check check (finished_at is null or started_at is not null)
);

comment on table recall.backfills is
    'Data changes that a migration left to maintenance: recall.run_backfills makes them in '
    'batches. The position of the running one is in maintenance_tasks.';
comment on column recall.backfills.backfill is 'Name; recall._backfill_NAME changes the rows.';
comment on column recall.backfills.migration is 'The migration that registered it.';
comment on column recall.backfills.table_name is 'The table whose rows it changes.';
comment on column recall.backfills.rows_done is 'Rows changed so far.';
comment on column recall.backfills.registered_at is
    'Begin of the upgrade that registered it.';
comment on column recall.backfills.started_at is 'Time of its first batch.';
comment on column recall.backfills.finished_at is 'Time of its last batch; NULL: unfinished.';
