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
    constraint maintenance_tasks_period_check
        check (period > interval '0' and period <= interval '1000 years'),
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
    'Where a scan over users or sessions continues, and its purpose.';

create table if not exists recall.embedding_migrations (
    migration_id    uuid        not null,
    from_model      text        not null,
    from_dimensions integer     not null,
    to_model        text        not null,
    to_dimensions   integer     not null,
    state           text        not null,
    texts           bigint      not null,
    tokens          bigint      not null,
    cost_microcents bigint,
    embedded        bigint      not null default 0,
    passes          integer     not null default 0,
    pass_found      bigint      not null default 0,
    last_user       uuid,
    keep_old        interval    not null,
    started_at      timestamptz not null,
    started_by      text        not null default session_user,
    switched_at     timestamptz,
    ended_at        timestamptz,
    constraint embedding_migrations_pkey primary key (migration_id),
    constraint embedding_migrations_dimensions_check
        check (from_dimensions between 1 and 16000 and to_dimensions between 1 and 16000),
    constraint embedding_migrations_models_check
        check (from_model <> to_model and to_model <> ''),
    constraint embedding_migrations_state_check
        check (state in ('running', 'paused', 'switched', 'cancelling', 'done', 'cancelled')),
    constraint embedding_migrations_numbers_check
        check (texts >= 0 and tokens >= 0 and cost_microcents >= 0 and embedded >= 0
               and passes >= 0 and pass_found >= 0 and keep_old >= interval '0'),
    constraint embedding_migrations_ended_check
        check ((ended_at is not null) = (state in ('done', 'cancelled')))
);

comment on table recall.embedding_migrations is
    'Changes of the embedding model; at most one has not ended.';
comment on column recall.embedding_migrations.migration_id is 'UUIDv7.';
comment on column recall.embedding_migrations.from_model is 'The model before.';
comment on column recall.embedding_migrations.from_dimensions is 'Its dimensions.';
comment on column recall.embedding_migrations.to_model is 'The new model.';
comment on column recall.embedding_migrations.to_dimensions is 'Its dimensions.';
comment on column recall.embedding_migrations.state is
    'running: workers make vectors; paused; switched: the new model is in use, old vectors are '
    'kept or being deleted; cancelling: new vectors are being deleted; done; cancelled.';
comment on column recall.embedding_migrations.texts is 'Texts to embed, estimated at the start.';
comment on column recall.embedding_migrations.tokens is 'Their tokens, estimated at the start.';
comment on column recall.embedding_migrations.cost_microcents is
    'Estimated cost; NULL: recall.models has no price of the model.';
comment on column recall.embedding_migrations.embedded is 'Texts that workers have embedded.';
comment on column recall.embedding_migrations.passes is
    'Completed passes over all users since the start or the last pause; each enqueues jobs for '
    'texts without a new vector.';
comment on column recall.embedding_migrations.pass_found is
    'Texts without a new vector that the current pass has found.';
comment on column recall.embedding_migrations.last_user is
    'Last user of the current pass, or of the deletion.';
comment on column recall.embedding_migrations.keep_old is
    'How long the old vectors are kept after the switch, for a way back.';
comment on column recall.embedding_migrations.started_at is 'Time of the start.';
comment on column recall.embedding_migrations.started_by is 'Login role that started it.';
comment on column recall.embedding_migrations.switched_at is 'Time of the switch.';
comment on column recall.embedding_migrations.ended_at is
    'When the last vector was deleted, after the switch or the cancellation.';

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
    'Functions, composite types, triggers and tables that the version created; NULL for a '
    'migration.';

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
