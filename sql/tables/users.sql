-- A user. The row is also the lock under which a user's memories change: every writer of
-- memories first raises memory_revision.
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
    constraint users_pkey primary key (user_id),
    constraint users_active_memory_count_check check (active_memory_count >= 0),
    constraint users_event_count_check check (event_count >= 0),
    constraint users_overrides_check check (overrides @> '{}'),
    constraint users_metadata_check check (metadata @> '{}')
) partition by hash (user_id);

comment on table recall.users is 'Users; the row is the lock of its memories.';
comment on column recall.users.user_id is
    'recall.user_id(external_id), or a UUID of the caller''s.';
comment on column recall.users.external_id is
    'The application''s name for the user, such as auth0|42.';
comment on column recall.users.active_memory_count is 'Active rows in memory_store.';
comment on column recall.users.memory_revision is
    'Grows with every change of the user''s memories.';
comment on column recall.users.overrides is 'Settings that differ for this user.';
comment on column recall.users.metadata is 'The application''s.';
comment on column recall.users.created_at is 'When the user was first seen.';
comment on column recall.users.merge_due is
    'Set when a memory with tags is added, until enqueue_merges has looked. No index: it would '
    'cost every writer of memories a lock.';
comment on column recall.users.pattern_due is
    'Set when an episode got its vector, until enqueue_patterns has looked.';
comment on column recall.users.embedding_due is
    'Set when a memory is written without a vector, until enqueue_missing_embeddings has looked. '
    'It finds him by that memory: an index here would cost every writer a lock.';
comment on column recall.users.is_sealed is
    'Whether the user''s texts are ciphertext that drivers make and open.';
comment on column recall.users.event_count is 'How many events the user''s audit has.';
comment on column recall.users.event_hash is
    'event_hash of the last of them: the head of the chain that verify_integrity follows.';
comment on column recall.users.has_vectors is
    'Whether vectors of the user''s texts are stored: not of a sealed user, unless it was wished.';

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
    'Data keys of sealed users, wrapped by a key outside of the database. Without the row nothing '
    'of the user can be read again, in no backup either that has no copy of it.';
comment on column recall.user_keys.user_id is 'Owner.';
comment on column recall.user_keys.key_no is '1 to n; ciphertexts name theirs.';
comment on column recall.user_keys.wrapped_key is 'The data key, encrypted.';
comment on column recall.user_keys.wrapping_key is 'Name of the key that opens it.';
comment on column recall.user_keys.created_at is 'When it was made.';
comment on column recall.user_keys.retired_at is
    'Since when it seals nothing new: only texts of the audit, which is not rewritten, need it.';
