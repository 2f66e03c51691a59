-- Create the indexes that named queries need, and no others.
-- No key or predicate uses a column that an append or an access changes: with such an index 0 of
-- 365 session updates were HOT, without it 246 of 250.
create index if not exists sessions_created_at_idx
    on recall.sessions (user_id, created_at desc);
comment on index recall.sessions_created_at_idx is 'list_sessions: newest first, by keyset.';

create index if not exists sessions_expires_at_due_idx
    on recall.sessions (expires_at)
    where status in ('active', 'paused');
comment on index recall.sessions_expires_at_due_idx is
    'expire_sessions: sessions that are due, across users. expires_at moves in steps of a day.';

create index if not exists sessions_compaction_due_idx
    on recall.sessions (compaction_due, search_purge_at)
    where compaction_due or search_purge_at is not null;
comment on index recall.sessions_compaction_due_idx is
    'enqueue_compactions: sessions above twice their window; purge_expired: those with compacted '
    'turns in message_search; across users.';

create index if not exists sessions_system_prompt_hash_idx
    on recall.sessions (system_prompt_hash);
comment on index recall.sessions_system_prompt_hash_idx is
    'Erasures and purge_expired: whether any session uses a prompt.';

create index if not exists system_prompts_released_at_due_idx
    on recall.system_prompts (released_at)
    where released_at is not null;
comment on index recall.system_prompts_released_at_due_idx is
    'purge_expired: prompts that a session replaced.';

create unique index if not exists session_summaries_live_idx
    on recall.session_summaries (user_id, session_id, kind)
    where ended_at is null;
comment on index recall.session_summaries_live_idx is
    'One live summary of each kind; read by compile_context.';

-- Until a table has statistics, every index that begins with user_id has the same estimated cost. A
-- plan cached then would read all rows of a user for one. So look-ups by text or slot use
-- `is_active`, which of those only these two contain; of equal indexes the planner takes the newer.
-- Reads of all rows use `ended_at is null`, and look-ups by id use neither.
create unique index if not exists memory_store_content_hash_idx
    on recall.memory_store (user_id, content_hash)
    where is_active;
comment on index recall.memory_store_content_hash_idx is
    'Exact deduplication: one active row for each text, also under concurrency.';

create unique index if not exists memory_store_slot_idx
    on recall.memory_store (user_id, slot)
    where is_active and slot is not null;
comment on index recall.memory_store_slot_idx is
    'One active value for each attribute; read by get_profile.';

create index if not exists memory_store_importance_idx
    on recall.memory_store (user_id, importance desc)
    where ended_at is null;
comment on index recall.memory_store_importance_idx is
    'All active memories of a user (search, get_memories), most important first.';

create index if not exists memory_store_source_session_id_idx
    on recall.memory_store (user_id, source_session_id)
    where source_session_id is not null;
comment on index recall.memory_store_source_session_id_idx is
    'Memories drawn from a session (filters, revocation).';

create index if not exists memory_store_superseded_by_idx
    on recall.memory_store (user_id, superseded_by)
    where superseded_by is not null;
comment on index recall.memory_store_superseded_by_idx is 'memory_chain: predecessors of a row.';

create index if not exists memory_store_disputes_idx
    on recall.memory_store (user_id, disputes)
    where disputes is not null;
comment on index recall.memory_store_disputes_idx is 'list_disputes.';

create index if not exists memory_store_is_active_due_idx
    on recall.memory_store (is_active, has_expiry, check_at)
    where check_at is not null;
comment on index recall.memory_store_is_active_due_idx is
    'expire_memories (with an expiry), decay_memories (without), and for ended memories '
    'purge_expired: rows that are due, across users.';

create index if not exists memory_store_promotion_due_idx
    on recall.memory_store (user_id, memory_id)
    where promotion_due or embedding_due;
comment on index recall.memory_store_promotion_due_idx is
    'promote_memories: rows that an access took over a threshold. enqueue_missing_embeddings: one '
    'row for each user with unembedded memories. Across users.';

create unique index if not exists jobs_dedupe_key_idx
    on recall.jobs (user_id, kind, dedupe_key)
    where state = 'ready';
comment on index recall.jobs_dedupe_key_idx is
    'At most one ready job for a user, kind and key: fifty turns cause one extraction.';

create unique index if not exists jobs_running_idx
    on recall.jobs (user_id, kind, session_id)
    where state = 'running' and session_id is not null;
comment on index recall.jobs_running_idx is
    'At most one running job for a session and kind, also when claims race.';

create index if not exists jobs_ready_due_idx
    on recall.jobs (priority, run_at)
    where state = 'ready';
comment on index recall.jobs_ready_due_idx is 'claim_jobs: jobs that are due, across users.';

create index if not exists jobs_lease_until_due_idx
    on recall.jobs (lease_until)
    where state = 'running';
comment on index recall.jobs_lease_until_due_idx is
    'release_expired_leases: jobs whose worker died, across users.';

create index if not exists job_phases_unpriced_idx
    on recall.job_phases (created_at)
    where cost_microcents is null;
comment on index recall.job_phases_unpriced_idx is
    'health: models without a price that were used recently, across users.';

create index if not exists append_receipts_created_at_due_idx
    on recall.append_receipts using brin (created_at) with (pages_per_range = 16);
comment on index recall.append_receipts_created_at_due_idx is
    'purge_expired: receipts past their lifetime, across users. BRIN: a B-tree would cost every '
    'append.';

create index if not exists model_spending_day_due_idx
    on recall.model_spending using brin (day) with (pages_per_range = 16);
comment on index recall.model_spending_day_due_idx is
    'purge_expired: days past their retention, across users.';

create index if not exists memory_access_log_user_id_idx
    on recall.memory_access_log (user_id);
comment on index recall.memory_access_log_user_id_idx is
    'flush_access_log processes one user after the other.';

create index if not exists context_efficiency_measured_at_due_idx
    on recall.context_efficiency using brin (measured_at) with (pages_per_range = 16);
comment on index recall.context_efficiency_measured_at_due_idx is
    'metrics, purge_expired: measurements of the last day, and older ones.';

create index if not exists working_memory_expires_at_due_idx
    on recall.working_memory (expires_at);
comment on index recall.working_memory_expires_at_due_idx is
    'expire_working: values past their lifetime, across users.';

create index if not exists items_expires_at_due_idx
    on recall.items (expires_at) where expires_at is not null;
comment on index recall.items_expires_at_due_idx is
    'expire_items: items past their lifetime, across users.';

create index if not exists memory_events_at_due_idx
    on recall.memory_events using brin (at) with (pages_per_range = 16);
comment on index recall.memory_events_at_due_idx is
    'metrics: events of the last day, across users. BRIN: a B-tree would cost every write.';

create index if not exists job_phases_created_at_due_idx
    on recall.job_phases using brin (created_at) with (pages_per_range = 16);
comment on index recall.job_phases_created_at_due_idx is
    'metrics: spans of the last day, across users.';

create unique index if not exists embedding_migrations_live_idx
    on recall.embedding_migrations ((ended_at is null))
 where ended_at is null;
comment on index recall.embedding_migrations_live_idx is
    'At most one change of the embedding model has not ended.';

create index if not exists erasures_erased_by_idx
    on recall.erasures (erased_by);
comment on index recall.erasures_erased_by_idx is
    'Creating a user: was this user erased while the call waited?';

create unique index if not exists prompts_current_idx
    on recall.prompts (name, language)
 where is_current;
comment on index recall.prompts_current_idx is 'One prompt for each name and language is in use.';
