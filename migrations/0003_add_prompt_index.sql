-- An erasure finds whether another session uses a prompt without a scan of all sessions.
-- The index of a partitioned table, in the transaction of an upgrade, cannot be built concurrently.
-- squawk-ignore require-concurrent-index-creation
create index if not exists sessions_system_prompt_hash_idx
    on recall.sessions (system_prompt_hash);
-- Prompts that no session uses, and that nothing has released: purge_expired deletes them.
update recall.system_prompts as p
   set released_at = now()
 where p.released_at is null
   and not exists (
           select 1 from recall.sessions as s where s.system_prompt_hash = p.prompt_hash);
