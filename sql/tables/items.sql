-- Items: JSON values of the application under a namespace and a key.
-- Namespace and key have the collation C, so that the items below a namespace are one range of the
-- primary key.
create table if not exists recall.items (
    user_id    uuid             not null,
    namespace  text[] collate "C" not null,
    key        text   collate "C" not null,
    value      jsonb            not null,
    byte_count integer          not null,
    ttl        interval,
    created_at timestamptz      not null,
    updated_at timestamptz      not null,
    expires_at timestamptz,
    constraint items_pkey primary key (user_id, namespace, key),
    constraint items_namespace_check check (cardinality(namespace) >= 1),
    constraint items_byte_count_check check (byte_count >= 0),
    constraint items_ttl_check
        check (ttl > interval '0' and (ttl is null) = (expires_at is null))
) partition by hash (user_id);

comment on table recall.items is
    'Items of the application: JSON values under a namespace and a key, as key-value stores of '
    'agent frameworks keep them.';
comment on column recall.items.user_id is 'Owner.';
comment on column recall.items.namespace is 'Labels from the general to the special.';
comment on column recall.items.key is 'Name of the item in its namespace.';
comment on column recall.items.value is 'The value; a ciphertext for an encrypted user.';
comment on column recall.items.byte_count is 'Bytes of the value as JSON and of its vectors.';
comment on column recall.items.ttl is 'Life after a write or a refresh; NULL: unlimited.';
comment on column recall.items.created_at is 'First write.';
comment on column recall.items.updated_at is 'Last write.';
comment on column recall.items.expires_at is 'End of its life; NULL: never.';
