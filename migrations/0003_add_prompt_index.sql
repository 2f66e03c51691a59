-- An erasure finds whether another session uses a prompt without a scan of all sessions.
-- The index of a partitioned table, in the transaction of an upgrade, cannot be built concurrently.
-- squawk-ignore require-concurrent-index-creation
create index if not exists sessions_system_prompt_hash_idx
    on recall.sessions (system_prompt_hash);
