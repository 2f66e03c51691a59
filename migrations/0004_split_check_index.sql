-- purge_expired finds ended memories without a pass over active ones whose check is overdue.
-- The index of a partitioned table, in the transaction of an upgrade, cannot be built or dropped
-- concurrently.
-- squawk-ignore require-concurrent-index-creation
create index if not exists memory_store_is_active_due_idx
    on recall.memory_store (is_active, has_expiry, check_at)
    where check_at is not null;
-- squawk-ignore require-concurrent-index-deletion
drop index if exists recall.memory_store_check_at_due_idx;
