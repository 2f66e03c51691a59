-- Users. The row is also the lock for a user's memories: every writer of memories first increments
-- memory_revision.
create table if not exists recall.users (
    user_id             uuid        not null,
    external_id         text,
    active_memory_count integer     not null default 0,
    memory_revision     bigint      not null default 0,
    overrides           jsonb       not null default '{}',
    metadata            jsonb       not null default '{}',
    created_at          timestamptz not null,
    merge_due           boolean     not null default false,
    pattern_due         boolean     not null default false,
    embedding_due       boolean     not null default false,
    is_sealed           boolean     not null default false,
    event_count         bigint      not null default 0,
    event_hash          bytea       not null default '',
    has_vectors         boolean     not null default true,
    item_count          bigint      not null default 0,
    item_bytes          bigint      not null default 0,
    constraint users_pkey primary key (user_id),
    constraint users_active_memory_count_check check (active_memory_count >= 0),
    constraint users_event_count_check check (event_count >= 0),
    constraint users_items_check check (item_count >= 0 and item_bytes >= 0),
    constraint users_overrides_check check (overrides @> '{}'),
    constraint users_metadata_check check (metadata @> '{}')
) partition by hash (user_id);

comment on table recall.users is 'Users; a lock on the row protects the user''s memories.';
comment on column recall.users.user_id is
    'recall.user_id(external_id), or a UUID chosen by the caller.';
comment on column recall.users.external_id is
    'The application''s name for the user, such as auth0|42.';
comment on column recall.users.active_memory_count is 'Active rows in memory_store.';
comment on column recall.users.memory_revision is
    'Increases with every change of the user''s memories.';
comment on column recall.users.overrides is 'Settings that differ for this user.';
comment on column recall.users.metadata is 'Metadata of the application.';
comment on column recall.users.created_at is 'When the user was created.';
comment on column recall.users.merge_due is
    'Set when a memory with tags is added, until enqueue_merges has checked the user. No index: '
    'it would cost every writer of memories a lock.';
comment on column recall.users.pattern_due is
    'Set when an episode gets its vector, until enqueue_patterns has checked the user.';
comment on column recall.users.embedding_due is
    'Set when a memory is written without a vector, until enqueue_missing_embeddings has checked '
    'the user. The sweep finds the user by that memory, because an index here would cost every '
    'writer a lock.';
comment on column recall.users.is_sealed is
    'Whether the user is encrypted: drivers encrypt and decrypt the texts.';
comment on column recall.users.event_count is 'Number of events in the user''s audit.';
comment on column recall.users.event_hash is
    'event_hash of the last event: the head of the chain that verify_integrity checks.';
comment on column recall.users.has_vectors is
    'Whether vectors of the user''s texts are stored; false for an encrypted user unless '
    'requested.';
comment on column recall.users.item_count is 'Rows in items.';
comment on column recall.users.item_bytes is 'Sum of items.byte_count.';

create table if not exists recall.user_keys (
    user_id      uuid        not null,
    key_no       integer     not null,
    wrapped_key  bytea       not null,
    wrapping_key text        not null,
    created_at   timestamptz not null,
    retired_at   timestamptz,
    constraint user_keys_pkey primary key (user_id, key_no),
    constraint user_keys_key_no_check check (key_no between 1 and 65535)
) partition by hash (user_id);

comment on table recall.user_keys is
    'Data encryption keys of encrypted users, wrapped by a key encryption key outside of the '
    'database. Without the row the user''s texts cannot be decrypted, also in backups that lack a '
    'copy of it.';
comment on column recall.user_keys.user_id is 'Owner.';
comment on column recall.user_keys.key_no is '1 to n; a ciphertext contains the number of its key.';
comment on column recall.user_keys.wrapped_key is 'The data encryption key, encrypted.';
comment on column recall.user_keys.wrapping_key is 'Name of the key encryption key.';
comment on column recall.user_keys.created_at is 'When it was created.';
comment on column recall.user_keys.retired_at is
    'Since when it encrypts nothing new; only audit texts, which are not rewritten, still need '
    'it.';

create table if not exists recall.imports (
    user_id     uuid    not null,
    export_id   uuid    not null,
    piece       integer not null,
    event_count bigint  not null,
    constraint imports_pkey primary key (user_id)
);

comment on table recall.imports is
    'The state of an import in pieces, within its transaction: a trigger refuses a commit with a '
    'row here.';
comment on column recall.imports.user_id is 'The user who is being imported.';
comment on column recall.imports.export_id is 'The export that the pieces are of.';
comment on column recall.imports.piece is 'The last piece that was imported.';
comment on column recall.imports.event_count is 'Events of the user before the first piece.';
