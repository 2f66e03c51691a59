-- Tables with vectors. The type belongs to an extension, whose schema is on the search path here
-- (extension_path.sql). So no expression may need a cast to fit its operator.

create table if not exists recall.session_summaries (
    user_id              uuid        not null,
    session_id           uuid        not null,
    summary_id           uuid        not null,
    kind                 text        not null,
    from_turn            integer     not null,
    to_turn              integer     not null,
    content              text        not null,
    token_count          integer     not null,
    embedding            halfvec,
    embedding_model      text,
    created_at           timestamptz not null,
    ended_at             timestamptz,
    source_tokens        bigint,
    made_by              jsonb,
    next_embedding       halfvec,
    next_embedding_model text,
    constraint session_summaries_pkey primary key (user_id, session_id, summary_id),
    constraint session_summaries_kind_check check (kind in ('rolling', 'compaction')),
    constraint session_summaries_turns_check check (from_turn >= 0 and to_turn >= from_turn),
    constraint session_summaries_token_count_check check (token_count >= 0),
    constraint session_summaries_source_tokens_check check (source_tokens >= 0),
    constraint session_summaries_embedding_check
        check ((embedding is null) = (embedding_model is null)),
    constraint session_summaries_next_embedding_check
        check ((next_embedding is null) = (next_embedding_model is null)),
    constraint session_summaries_made_by_check check (jsonb_typeof(made_by) = 'array')
) partition by hash (user_id);

comment on table recall.session_summaries is
    'Summaries of sessions; one of each kind is live. A copy of a parent''s summary covers turns '
    '0 to 0.';
comment on column recall.session_summaries.user_id is 'Owner.';
comment on column recall.session_summaries.session_id is 'The session.';
comment on column recall.session_summaries.summary_id is 'UUIDv7.';
comment on column recall.session_summaries.kind is
    'rolling (context for extraction) or compaction (replaces the turns it covers).';
comment on column recall.session_summaries.from_turn is
    'First turn covered; 0: an earlier session.';
comment on column recall.session_summaries.to_turn is 'Last turn covered.';
comment on column recall.session_summaries.content is 'The summary.';
comment on column recall.session_summaries.token_count is 'Tokens of the content.';
comment on column recall.session_summaries.embedding is
    'Vector of the content; NULL: not embedded yet.';
comment on column recall.session_summaries.embedding_model is 'Model of the vector.';
comment on column recall.session_summaries.created_at is 'When it was written.';
comment on column recall.session_summaries.ended_at is 'When a newer summary replaced it.';
comment on column recall.session_summaries.source_tokens is
    'Tokens of the turns that a compaction removed from the context; divided by token_count it is '
    'the compression ratio. NULL: a rolling summary.';
comment on column recall.session_summaries.made_by is
    'Prompts and models that wrote it: a list of {"prompt", "model"}, where prompt is '
    'name@version of recall.prompts. NULL: unknown.';
comment on column recall.session_summaries.next_embedding is
    'Vector of a second model while the embedding model changes; embedding after that.';
comment on column recall.session_summaries.next_embedding_model is 'Model of next_embedding.';

create table if not exists recall.message_search (
    user_id         uuid                not null,
    session_id      uuid                not null,
    turn_index      integer             not null,
    message_id      uuid                not null,
    role            recall.message_role not null,
    created_at      timestamptz         not null,
    search_vector   tsvector            not null,
    embedding       halfvec,
    embedding_model text                not null default '',
    bits            bit varying         storage plain
                                        generated always as (binary_quantize(embedding)) stored,
    constraint message_search_pkey
        primary key (user_id, session_id, turn_index, embedding_model)
        include (created_at, role, bits),
    constraint message_search_embedding_check check (embedding is null or embedding_model <> '')
) partition by hash (user_id);

comment on table recall.message_search is
    'One narrow row for each searchable message, written off the request path by the embed job; a '
    'second one while the embedding model changes, which searches skip until the switch.';
comment on column recall.message_search.user_id is 'Owner.';
comment on column recall.message_search.session_id is 'The session.';
comment on column recall.message_search.turn_index is 'The message.';
comment on column recall.message_search.message_id is 'Id of the message, as memories cite it.';
comment on column recall.message_search.role is 'Role of the author.';
comment on column recall.message_search.created_at is 'created_at of the message.';
comment on column recall.message_search.search_vector is 'Words, in the user''s language.';
comment on column recall.message_search.embedding is 'Vector of "name or role: text".';
comment on column recall.message_search.embedding_model is
    'Model for which the row was written, also where a text has no vector; empty: none.';
comment on column recall.message_search.bits is
    'Signs of the vector: a search of very many compares these first.';

-- Storage main: in a row as wide as a vector, PostgreSQL would move the model's name to TOAST, and
-- every reader would have to fetch it.
-- The sign bits are part of the primary key's index, so that a search of many vectors first scans a
-- tenth of the bytes, index-only. No further index must be written, planned and locked. They are
-- bit varying, since "bit" is one bit, and storage plain, to stay in the row.
-- A column has no number of dimensions: _check_embedding checks that of each model.
create table if not exists recall.memory_embedding (
    user_id         uuid    not null,
    memory_id       uuid    not null,
    embedding_model text    storage main not null,
    embedding       halfvec not null,
    bits            bit varying storage plain
                    generated always as (binary_quantize(embedding)) stored,
    constraint memory_embedding_pkey
        primary key (user_id, memory_id, embedding_model) include (bits)
) partition by hash (user_id);

comment on table recall.memory_embedding is
    'Vectors of active memories, stored inline in a narrow table; without a row a memory is not '
    'embedded yet.';
comment on column recall.memory_embedding.user_id is 'Owner.';
comment on column recall.memory_embedding.memory_id is 'An active memory.';
comment on column recall.memory_embedding.embedding_model is
    'Model; vectors of two models can exist side by side.';
comment on column recall.memory_embedding.embedding is 'The vector.';
comment on column recall.memory_embedding.bits is
    'Signs of the vector: a search of very many compares these first.';

create table if not exists recall.memory_embedding_ended (
    user_id         uuid        not null,
    memory_id       uuid        not null,
    embedding_model text        storage main not null,
    embedding       halfvec     not null,
    ended_at        timestamptz not null,
    constraint memory_embedding_ended_pkey primary key (user_id, memory_id, embedding_model)
) partition by hash (user_id);

comment on table recall.memory_embedding_ended is
    'Vectors of ended memories, read only for as_of and include_ended, and purged later.';
comment on column recall.memory_embedding_ended.user_id is 'Owner.';
comment on column recall.memory_embedding_ended.memory_id is 'An ended memory.';
comment on column recall.memory_embedding_ended.embedding_model is 'Model.';
comment on column recall.memory_embedding_ended.embedding is 'The vector.';
comment on column recall.memory_embedding_ended.ended_at is 'When the memory ended.';

-- The type is vector without a length: an item has the vectors of the application, whose model and
-- length need not be those of the memories.
create table if not exists recall.item_vectors (
    user_id         uuid             not null,
    namespace       text[] collate "C" not null,
    key             text   collate "C" not null,
    embedding_model text             not null,
    path            text             not null,
    embedding       vector           not null,
    constraint item_vectors_pkey
        primary key (user_id, namespace, key, embedding_model, path)
) partition by hash (user_id);

comment on table recall.item_vectors is 'Vectors of items, one for each indexed text of a value.';
comment on column recall.item_vectors.user_id is 'Owner.';
comment on column recall.item_vectors.namespace is 'Namespace of the item.';
comment on column recall.item_vectors.key is 'Key of the item.';
comment on column recall.item_vectors.embedding_model is
    'Model of the vector, as the application names it.';
comment on column recall.item_vectors.path is 'The text in the value, such as "text" or "tags.0".';
comment on column recall.item_vectors.embedding is
    'The vector. A search compares vectors of its model and length only.';
