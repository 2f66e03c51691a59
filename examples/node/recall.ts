// Typed functions of the schema recall, over pg.
//
// Made from the catalog by `make generate`; change the functions, not this. Parameters have no p_.
// A parameter that is undefined is left out, so that its default applies; null is SQL's NULL.

import { Client, type Json } from './client.ts';

export interface AppendMessagesRow {
  message_id: string | null;
  turn_index: number;
  inserted: boolean;
}

export interface ApplyDecisionsRow {
  ordinal: number;
  decision: string;
  memory_id: string;
  outcome: string;
}

export interface CalibrateEmbeddingsRow {
  embedding_model: string;
  unrelated_similarity: number;
  unrelated_deviation: number;
  pairs: bigint;
}

export interface ClaimJobsRow {
  job_id: string;
  lease_token: string;
  kind: string;
  user_id: string;
  session_id: string | null;
  payload: Json;
  attempts: number;
  lease_until: Date;
}

export interface DecayMemoriesRow {
  done: number;
  more: boolean;
}

export interface DisputeMemoryRow {
  memory_id: string;
  outcome: string;
}

export interface DistributeRow {
  table_count: number;
  function_count: number;
}

export interface DropExpiredPartitionsRow {
  done: number;
  more: boolean;
}

export interface EnqueueCompactionsRow {
  done: number;
  more: boolean;
}

export interface EnqueueMergesRow {
  done: number;
  more: boolean;
}

export interface EnqueueMissingEmbeddingsRow {
  done: number;
  more: boolean;
}

export interface EnqueuePatternsRow {
  done: number;
  more: boolean;
}

export interface EnsurePartitionsRow {
  done: number;
  more: boolean;
}

export interface EstimateEmbeddingMigrationRow {
  memories: bigint;
  ended_memories: bigint;
  messages: bigint;
  summaries: bigint;
  texts: bigint;
  tokens: bigint;
  cost_microcents: bigint | null;
}

export interface ExpireItemsRow {
  done: number;
  more: boolean;
}

export interface ExpireMemoriesRow {
  done: number;
  more: boolean;
}

export interface ExpireSessionsRow {
  done: number;
  more: boolean;
}

export interface ExpireWorkingRow {
  done: number;
  more: boolean;
}

export interface ExplainContextRow {
  memory_id: string;
  content: string;
  token_count: number | null;
  score: number | null;
  relevance: number | null;
  match: number | null;
  similarity: number | null;
  lexical: number | null;
  freshness: number | null;
  frequency: number | null;
  authority: number | null;
  taken: boolean;
  reason: string | null;
  kind: string | null;
  tier: string | null;
  observed_at: Date | null;
  similarity_part: number | null;
  lexical_part: number | null;
  freshness_part: number | null;
  frequency_part: number | null;
  authority_part: number | null;
  importance_part: number | null;
  decay: number | null;
}

export interface ExportUserPiecesRow {
  piece: number;
  document: Json;
}

export interface FlushAccessLogRow {
  done: number;
  more: boolean;
}

export interface GetEmbeddingMigrationRow {
  from_model: string;
  from_dimensions: number;
  to_model: string;
  to_dimensions: number;
  state: string;
  texts: bigint;
  embedded: bigint;
  share: number;
  tokens: bigint;
  cost_microcents: bigint | null;
  passes: number;
  jobs_ready: bigint;
  jobs_running: bigint;
  jobs_dead: bigint;
  keep_old: string;
  started_at: Date;
  switched_at: Date | null;
  ended_at: Date | null;
}

export interface GetItemsRow {
  namespace: string[];
  key: string;
  value: Json;
  created_at: Date;
  updated_at: Date;
  expires_at: Date | null;
}

export interface GetJobRow {
  job_id: string | null;
  session_id: string | null;
  kind: string;
  state: string;
  payload: Json | null;
  attempts: number;
  max_attempts: number;
  run_at: Date;
  lease_until: Date | null;
  worker: string | null;
  last_error: string | null;
  created_at: Date;
}

export interface MemoryRow {
  memory_id: string;
  content: string;
  kind: string;
  slot: string | null;
  tier: string;
  scope: string;
  tags: string[];
  importance: number;
  confidence: number;
  provenance: string;
  source: string;
  source_session_id: string | null;
  observed_at: Date | null;
  valid_from: Date | null;
  valid_to: Date | null;
  created_at: Date;
  expires_at: Date | null;
  ended_at: Date | null;
  end_reason: string | null;
  superseded_by: string | null;
  is_active: boolean;
  access_count: number;
  metadata: Json;
  session_id: string | null;
  agent_id: string | null;
  token_count: number | null;
  source_turn_ids: string[] | null;
  last_accessed_at: Date | null;
  is_validated: boolean | null;
  review_at: Date | null;
  updated_at: Date | null;
}

export interface GetMessagesRow {
  message_id: string;
  turn_index: number;
  role: string;
  content: string | null;
  content_parts: Json | null;
  name: string | null;
  tool_calls: Json | null;
  tool_call_id: string | null;
  token_count: number;
  created_at: Date;
  metadata: Json;
  tokens_estimated: boolean | null;
  model_id: string | null;
  finish_reason: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cost_microcents: bigint | null;
  latency_ms: number | null;
  content_hash: Buffer | null;
}

export interface GetMessagesByIdRow {
  message_id: string;
  session_id: string | null;
  turn_index: number;
  role: string;
  content: string | null;
  content_parts: Json | null;
  name: string | null;
  tool_calls: Json | null;
  tool_call_id: string | null;
  token_count: number;
  created_at: Date;
  metadata: Json;
}

export interface SessionRow {
  session_id: string;
  status: string;
  model_id: string;
  agent_id: string | null;
  title: string | null;
  turn_count: number;
  active_tokens: bigint;
  total_prompt_tokens: bigint;
  total_completion_tokens: bigint;
  total_cost_microcents: bigint;
  created_at: Date;
  updated_at: Date;
  expires_at: Date | null;
  metadata: Json;
  context_window_size: number | null;
  max_response_tokens: number | null;
  system_prompt: string | null;
  system_prompt_tokens: number | null;
  temperature: number | null;
  top_p: number | null;
  cost_limit_microcents: bigint | null;
  parent_session_id: string | null;
  user_turn_count: number | null;
  compacted_through_turn: number | null;
  extracted_through_turn: number | null;
  last_message_at: Date | null;
}

export interface GetUserKeysRow {
  key_no: number;
  wrapped_key: Buffer;
  wrapping_key: string;
  has_vectors: boolean;
  secrets: string;
  secret_patterns: Json;
  is_retired: boolean;
}

export interface HealthRow {
  name: string;
  status: string;
  detail: string | null;
  hint: string | null;
}

export interface IngestMemoriesRow {
  ordinal: number;
  memory_id: string;
  outcome: string;
}

export interface ListDisputesRow {
  memory_id: string;
  content: string;
  kind: string;
  slot: string | null;
  provenance: string;
  source: string;
  source_session_id: string | null;
  confidence: number;
  observed_at: Date | null;
  created_at: Date;
  disputed_id: string;
  disputed_content: string;
  is_retraction: boolean;
}

export interface ListErasuresRow {
  erasure_id: string;
  salt: Buffer;
  digest: Buffer;
  erased_at: Date;
  counts: Json;
}

export interface ListJobPhasesRow {
  phase_id: string;
  job_id: string;
  session_id: string | null;
  kind: string;
  phase: string;
  created_at: Date;
  duration_ms: number;
  items: number;
  prompt_tokens: number;
  completion_tokens: number;
  cost_microcents: bigint | null;
  model_id: string | null;
  error: string | null;
  from_turn: number | null;
  to_turn: number | null;
}

export interface ListJobsRow {
  job_id: string;
  user_id: string;
  session_id: string | null;
  kind: string;
  mode: string | null;
  state: string;
  attempts: number;
  max_attempts: number;
  run_at: Date;
  lease_until: Date | null;
  worker: string | null;
  last_error: string | null;
  created_at: Date;
}

export interface ListMaintenanceRow {
  task: string;
  schedule: string;
  period: string;
  batch_size: number;
  budget: string;
  enabled: boolean;
  last_run_at: Date | null;
  last_run_by: string | null;
  last_result: Json | null;
  failures: number;
}

export interface ListMemoryEventsRow {
  event_no: bigint | null;
  at: Date;
  event: string;
  memory_id: string;
  job_id: string | null;
  caller: string | null;
  detail: Json | null;
}

export interface ListModelCallsRow {
  call_id: string;
  session_id: string | null;
  job_id: string | null;
  created_at: Date;
  provider: string | null;
  endpoint: string | null;
  model: string;
  request: Json;
  response: Json;
  usage: Json;
  error: string | null;
  request_id: string | null;
  status_code: number | null;
  started_at: Date;
  completed_at: Date | null;
  latency_ms: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cached_tokens: number | null;
  reasoning_tokens: number | null;
  cost_microcents: bigint | null;
  is_stream: boolean;
  request_body: Buffer | null;
  response_body: Buffer | null;
  request_headers: Json;
  response_headers: Json;
  metadata: Json;
}

export interface ListModelsRow {
  model_id: string | null;
  context_window_size: number;
  tokenizer: string | null;
  input_price: bigint;
  cached_input_price: bigint;
  output_price: bigint;
}

export interface ListNamespacesRow {
  namespace: string[];
}

export interface ListPromptsRow {
  name: string | null;
  language: string;
  version: string;
  is_current: boolean;
  is_shipped: boolean;
  token_count: number;
  schema_token_count: number;
  checksum: string;
  created_at: Date;
  content: string | null;
  schema: Json;
}

export interface ListProtocolEventsRow {
  event_id: string;
  session_id: string | null;
  call_id: string | null;
  created_at: Date;
  event_type: string;
  direction: string | null;
  method: string | null;
  rpc_id: string | null;
  tool_name: string | null;
  tool_call_id: string | null;
  payload: Json;
  payload_body: Buffer | null;
  metadata: Json;
}

export interface ListSealedRowsRow {
  row_table: string;
  row_key: Json;
  texts: Json;
}

export interface ListSealedUsersRow {
  user_id: string;
}

export interface ListSpendingRow {
  day: string;
  cost_microcents: bigint | null;
}

export interface ListStreamEventsRow {
  event_index: number;
  event_type: string | null;
  text_delta: string | null;
  payload: Json;
  binary_payload: Buffer | null;
  mime_type: string | null;
  occurred_at: Date | null;
  created_at: Date;
}

export interface ListSummariesRow {
  summary_id: string;
  session_id: string | null;
  kind: string;
  from_turn: number | null;
  to_turn: number | null;
  summary: string;
  token_count: number;
  source_tokens: bigint | null;
  created_at: Date;
  ended_at: Date | null;
  made_by: Json | null;
}

export interface ListTotalSpendingRow {
  day: string;
  cost_microcents: bigint | null;
}

export interface ListUsersRow {
  user_id: string;
  external_id: string | null;
  active_memory_count: number;
  is_sealed: boolean;
  overrides: Json;
  metadata: Json;
  created_at: Date;
}

export interface MaintenanceCommandsRow {
  job_name: string;
  schedule: string;
  command: string;
  enabled: boolean;
  statement: string;
}

export interface MemoryHistoryRow {
  at: Date;
  event: string;
  memory_id: string;
  job_id: string | null;
  caller: string | null;
  detail: Json | null;
}

export interface MetricsRow {
  name: string;
  value: number;
  labels: Json;
}

export interface MigrateEmbeddingsRow {
  done: number;
  more: boolean;
}

export interface NeighborsRow {
  memory_id: string;
  content: string;
  kind: string;
  slot: string | null;
  similarity: number | null;
  tier: string;
  scope: string | null;
  importance: number;
  confidence: number;
  provenance: string | null;
  tags: string[];
  observed_at: Date | null;
  session_id: string | null;
}

export interface NewMessagesSinceRow {
  ordinal: number;
  message: Json;
  cursor: Buffer;
}

export interface PopTurnsRow {
  message_id: string;
  turn_index: number;
  role: string;
  content: string | null;
  content_parts: Json | null;
  name: string | null;
  tool_calls: Json | null;
  tool_call_id: string | null;
  token_count: number;
  created_at: Date;
  metadata: Json;
  tokens_estimated: boolean | null;
  model_id: string | null;
  finish_reason: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cost_microcents: bigint | null;
  latency_ms: number | null;
  content_hash: Buffer | null;
}

export interface PromoteMemoriesRow {
  done: number;
  more: boolean;
}

export interface PurgeExpiredRow {
  done: number;
  more: boolean;
}

export interface QueryDatesRow {
  since: Date;
  until: Date;
  expression: string;
}

export interface ReleaseExpiredLeasesRow {
  done: number;
  more: boolean;
}

export interface RememberRow {
  memory_id: string;
  outcome: string;
  is_proven: boolean | null;
}

export interface RunBackfillsRow {
  done: number;
  more: boolean;
}

export interface RunDueMaintenanceRow {
  task: string;
  result: Json;
}

export interface SampleRecallRow {
  done: number;
  more: boolean;
}

export interface ScheduleMaintenanceRow {
  job_name: string;
  schedule: string;
  command: string;
}

export interface FoundMemory {
  memory_id: string;
  content: string;
  kind: string;
  tier: string;
  score: number;
  relevance: number;
  match: number | null;
  similarity: number | null;
  lexical: number | null;
  freshness: number | null;
  frequency: number | null;
  authority: number | null;
  importance: number;
  confidence: number;
  tags: string[];
  observed_at: Date | null;
  created_at: Date;
  token_count: number | null;
  slot: string | null;
  scope: string | null;
  provenance: string | null;
  source_turn_ids: string[] | null;
  access_count: number | null;
  session_id: string | null;
  similarity_part: number | null;
  lexical_part: number | null;
  freshness_part: number | null;
  frequency_part: number | null;
  authority_part: number | null;
  importance_part: number | null;
  decay: number | null;
}

export interface SearchItemsRow {
  namespace: string[];
  key: string;
  value: Json;
  created_at: Date;
  updated_at: Date;
  expires_at: Date | null;
  score: number | null;
}

export interface FoundMessage {
  message_id: string;
  session_id: string;
  turn_index: number;
  role: string;
  content: string | null;
  created_at: Date;
  score: number;
  similarity: number | null;
  lexical: number | null;
  name: string | null;
  own_part: number | null;
  neighbor_part: number | null;
  session_part: number | null;
  memory_part: number | null;
  token_count: number | null;
  speaker_part: number | null;
  feedback_part: number | null;
}

export interface SearchSessionsRow {
  session_id: string;
  title: string | null;
  summary: string | null;
  score: number;
  similarity: number | null;
  lexical: number | null;
  topic_part: number | null;
  turn_part: number | null;
  turn_index: number | null;
  role: string | null;
  content: string | null;
  active_at: Date | null;
}

export interface VerifyIntegrityRow {
  finding: string;
  event_no: bigint | null;
  memory_id: string | null;
  detail: string;
}

export interface WaitingJobsRow {
  kind: string;
  mode: string | null;
  needs_model: boolean;
  due: bigint;
  deferred: bigint;
  deferred_until: Date | null;
}

export class Recall extends Client {
  /**
   * Mark a goal as achieved: it stays active with low importance, without a review. False when it
   * was not active. RC003 when the memory is not a goal.
   */
  achieve_goal(
    given: { user_id: string; memory_id: string },
  ): Promise<boolean> {
    return this.value('achieve_goal', given, { user_id: 'uuid', memory_id: 'uuid' });
  }

  /**
   * Store the vector of a memory that was written without one. Outcome: added; duplicate (the
   * memory ended in favor of a near duplicate); merged (a near duplicate ended in favor of the
   * memory); ended (the memory had ended before, and the vector serves as_of). Without p_model the
   * model is settings.embedding_model.
   */
  add_embedding(
    given: { user_id: string; memory_id: string; embedding: number[]; model: string },
  ): Promise<string> {
    return this.value('add_embedding', given, {
      user_id: 'uuid',
      memory_id: 'uuid',
      embedding: 'halfvec',
      model: 'text',
    });
  }

  /**
   * Begin the rotation of an encrypted user's data encryption key. Returns false while another
   * rotation is unfinished. RC003: the user is not encrypted, or the key number or the wrapped key
   * is malformed.
   */
  add_user_key(
    given: { user_id: string; key_no: number; wrapped_key: Buffer; wrapping_key: string },
  ): Promise<boolean> {
    return this.value('add_user_key', given, {
      user_id: 'uuid',
      key_no: 'integer',
      wrapped_key: 'bytea',
      wrapping_key: 'text',
    });
  }

  /**
   * Add metadata to a stored message: a JSON patch of keys, where the latest wins and null removes
   * a key. RC001: the session does not exist. RC003: the turn does not exist, or the patch is
   * malformed.
   */
  annotate_message(
    given: { user_id: string; session_id: string; turn_index: number; patch: Json },
  ): Promise<void> {
    return this.none('annotate_message', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      turn_index: 'integer',
      patch: 'jsonb',
    });
  }

  /**
   * Append OpenAI messages to a session; each may add token_count, created_at, model_id,
   * finish_reason, latency_ms, metadata. Usage: prompt_tokens, completion_tokens, cached_tokens,
   * latency_ms, cost_microcents. A call repeated with its request id returns the first result;
   * message_id is null for a message that was erased since. RC001: the session does not exist.
   * RC002: the session takes no messages. RC003: a malformed message, or a secret. RC008: the
   * request id was used with another session or payload.
   */
  append_messages(
    given: {
      user_id: string;
      session_id: string;
      messages: Json;
      usage?: Json | null;
      request_id?: string | null;
    },
  ): Promise<AppendMessagesRow[]> {
    return this.rows('append_messages', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      messages: 'jsonb',
      usage: 'jsonb',
      request_id: 'uuid',
    });
  }

  /**
   * Apply ADD, UPDATE, DELETE, ACHIEVE and NONE in one transaction, one row a decision in order. A
   * decision has the keys decision, target_id and those of a candidate. Repeatable per job.
   */
  apply_decisions(
    given: {
      user_id: string;
      session_id: string;
      decisions: Json;
      job_id?: string | null;
      embeddings?: (number[] | null)[] | null;
    },
  ): Promise<ApplyDecisionsRow[]> {
    return this.rows('apply_decisions', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      decisions: 'jsonb',
      job_id: 'uuid',
      embeddings: 'halfvec[]',
    });
  }

  /**
   * Measure the cosine similarity of unrelated texts under the embedding model, and store mean and
   * deviation in the settings, from which match is computed. RC007: fewer than twenty users have
   * vectors of the model.
   */
  calibrate_embeddings(): Promise<CalibrateEmbeddingsRow[]> {
    return this.rows('calibrate_embeddings', {}, {});
  }

  /**
   * Cancel the change of the embedding model before its switch; maintenance deletes the new
   * vectors. RC007: no change is running, or the model is switched already.
   */
  cancel_embedding_migration(): Promise<void> {
    return this.none('cancel_embedding_migration', {}, {});
  }

  /**
   * Lease due jobs to a worker: at most p_limit, and never two running jobs of one session and
   * kind. p_flush also leases extractions that wait for their idle time. Past a daily cost limit,
   * jobs that need a language model are deferred (RC005 in last_error). Where recall.user_id is
   * set, the function leases that user's jobs only.
   */
  claim_jobs(
    given: {
      worker: string;
      kinds?: string[] | null;
      limit?: number | null;
      lease?: string | null;
      flush?: boolean | null;
    },
  ): Promise<ClaimJobsRow[]> {
    return this.rows('claim_jobs', given, {
      worker: 'text',
      kinds: 'text[]',
      limit: 'integer',
      lease: 'interval',
      flush: 'boolean',
    });
  }

  /**
   * Erase what forget_session erases, and keep the session: title, metadata, parameters and
   * totals. The next append continues its turn numbers. An erased append that is repeated with its
   * request id stores nothing. Returns {"counts": rows deleted by table}. RC001: the session does
   * not exist. RC007: the transaction is not read committed.
   */
  clear_session(
    given: { user_id: string; session_id: string },
  ): Promise<Json> {
    return this.value('clear_session', given, { user_id: 'uuid', session_id: 'uuid' });
  }

  /**
   * Delete the working memory of a task, or of all tasks of a session. Returns the number of
   * deleted values.
   */
  clear_working(
    given: { user_id: string; session_id: string; task_id?: string | null },
  ): Promise<number> {
    return this.value('clear_working', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      task_id: 'text',
    });
  }

  /**
   * Close a session: clear its working memory, and enqueue the last extraction and summary. RC001:
   * the session does not exist. RC002: the session has expired.
   */
  close_session(
    given: { user_id: string; session_id: string },
  ): Promise<void> {
    return this.none('close_session', given, { user_id: 'uuid', session_id: 'uuid' });
  }

  /**
   * Compile the messages of the next call within its token budget: {messages, budget, memories,
   * recalled, history, task, truncated, left_out, prefix_hash}. They include the user's message
   * that started the turn, shortened if necessary. left_out lists every missing turn with a
   * reason. Writes nothing; pass memories to record_access.
   */
  compile_context(
    given: {
      user_id: string;
      session_id: string;
      query?: string | null;
      query_embedding?: number[] | null;
      options?: Json | null;
      as_of?: Date | string | null;
    },
  ): Promise<Json> {
    return this.value('compile_context', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      query: 'text',
      query_embedding: 'halfvec',
      options: 'jsonb',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Change settings of the installation: an object of column names of recall.settings. RC003: an
   * unknown key, or a value out of range. RC007: a size that is fixed at installation, another
   * embedding_model while there are vectors, or require_identity without roles.
   */
  configure(
    given: { changes: Json },
  ): Promise<void> {
    return this.none('configure', given, { changes: 'jsonb' });
  }

  /**
   * Change schedule, period, batch_size, budget or enabled of a maintenance task. pg_cron gets a
   * changed schedule at the next schedule_maintenance.
   */
  configure_maintenance(
    given: { task: string; changes: Json },
  ): Promise<void> {
    return this.none('configure_maintenance', given, { task: 'text', changes: 'jsonb' });
  }

  /**
   * Override settings for one user: an object of setting names; null removes an override. RC003:
   * an unknown key, or a value out of range. RC007: a size that is fixed at installation.
   */
  configure_user(
    given: { user_id: string; changes: Json },
  ): Promise<void> {
    return this.none('configure_user', given, { user_id: 'uuid', changes: 'jsonb' });
  }

  /**
   * Set an expiry on unimportant memories that nobody has used for settings.decay_idle, one batch
   * a call. done counts memories; more is true while some remain.
   */
  decay_memories(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<DecayMemoriesRow[]> {
    return this.rows('decay_memories', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * End a memory at a model's request if the user's words deny it or the user did not state it;
   * otherwise record a dispute. Outcome: retracted, disputed, or ended when it was not active.
   */
  dispute_memory(
    given: {
      user_id: string;
      memory_id: string;
      session_id: string;
      words?: string | null;
      current_message?: string | null;
      reason?: string | null;
      content?: string | null;
    },
  ): Promise<DisputeMemoryRow[]> {
    return this.rows('dispute_memory', given, {
      user_id: 'uuid',
      memory_id: 'uuid',
      session_id: 'uuid',
      words: 'text',
      current_message: 'text',
      reason: 'text',
      content: 'text',
    });
  }

  /**
   * Distribute the tables over the nodes of a Citus cluster by user, and send the calls of a user
   * there. For superusers, after an installation with recall.hash_partitions = 0. Repeatable.
   * Returns how many tables were distributed now, and how many functions. RC007: no Citus, or hash
   * partitions.
   */
  distribute(
    given: { shard_count?: number | null } = {},
  ): Promise<DistributeRow[]> {
    return this.rows('distribute', given, { shard_count: 'integer' });
  }

  /**
   * Detach and drop monthly partitions of history, job spans and the call log that are past their
   * retention and no longer needed. Returns how many were dropped, and whether more are due. A
   * locked month counts as due.
   */
  drop_expired_partitions(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<DropExpiredPartitionsRow[]> {
    return this.rows('drop_expired_partitions', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Enqueue the compaction of sessions whose active turns exceed twice their context window, one
   * batch a call. done counts jobs; more is true while some sessions remain.
   */
  enqueue_compactions(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<EnqueueCompactionsRow[]> {
    return this.rows('enqueue_compactions', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Enqueue a job for a worker and return its id. NULL when an equal job is ready: its run_at then
   * only moves to an earlier time, and stays while the job waits for a retry or a cost limit.
   */
  enqueue_job(
    given: {
      user_id: string;
      kind: string;
      session_id?: string | null;
      dedupe_key?: string | null;
      payload?: Json | null;
      run_at?: Date | string | null;
    },
  ): Promise<string> {
    return this.value('enqueue_job', given, {
      user_id: 'uuid',
      kind: 'text',
      session_id: 'uuid',
      dedupe_key: 'text',
      payload: 'jsonb',
      run_at: 'timestamp with time zone',
    });
  }

  /**
   * Enqueue jobs that consolidate memories with the same tag and kind, for at most p_limit users
   * and jobs. done counts jobs; more is true while some users remain.
   */
  enqueue_merges(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<EnqueueMergesRow[]> {
    return this.rows('enqueue_merges', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Enqueue jobs for memories without a vector, and after a change of the embedding model for
   * messages, too, one batch a call. done counts jobs; more is true while some remain.
   */
  enqueue_missing_embeddings(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<EnqueueMissingEmbeddingsRow[]> {
    return this.rows('enqueue_missing_embeddings', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Enqueue jobs that ask a model for recurring patterns in episodes, for at most p_limit users
   * and jobs. done counts jobs; more is true while some users remain.
   */
  enqueue_patterns(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<EnqueuePatternsRow[]> {
    return this.rows('enqueue_patterns', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Create the missing monthly partitions (UTC) of history and spans, from the current month to
   * history_months_ahead. Returns how many were created, and whether more are due: a call ends
   * after two seconds.
   */
  ensure_partitions(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<EnsurePartitionsRow[]> {
    return this.rows('ensure_partitions', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Create a user unless they exist, and return their UUID. Metadata is merged. RC003: an empty
   * text, more than 1000 characters, a UUIDv8 that may be the id of another name, or metadata is
   * not an object.
   */
  ensure_user(
    given: { external_id: string; metadata?: Json | null },
  ): Promise<string> {
    return this.value('ensure_user', given, { external_id: 'text', metadata: 'jsonb' });
  }

  /**
   * Estimate a change of the embedding model: texts by sort, tokens, and the cost in micro-cents
   * (NULL: recall.models has no price of the model).
   */
  estimate_embedding_migration(
    given: { model: string },
  ): Promise<EstimateEmbeddingMigrationRow[]> {
    return this.rows('estimate_embedding_migration', given, { model: 'text' });
  }

  /**
   * Delete items past their lifetime, one batch a call. done counts items; more is true while some
   * remain.
   */
  expire_items(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<ExpireItemsRow[]> {
    return this.rows('expire_items', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * End memories past their expiry, and episodic ones that were used too little for their tier,
   * one batch a call. done counts memories; more is true while some remain.
   */
  expire_memories(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<ExpireMemoriesRow[]> {
    return this.rows('expire_memories', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Expire sessions that were not used for their lifetime, one batch a call. done counts sessions;
   * more is true while some remain.
   */
  expire_sessions(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<ExpireSessionsRow[]> {
    return this.rows('expire_sessions', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Delete values of working memory past their lifetime, one batch a call. done counts values;
   * more is true while some remain.
   */
  expire_working(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<ExpireWorkingRow[]> {
    return this.rows('expire_working', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * List every candidate memory of a context in the order of packing, with the parts of its score
   * (decay × the sum of the parts), whether it was taken, and the reason. Stale memories follow,
   * with the reason "stale".
   */
  explain_context(
    given: {
      user_id: string;
      session_id: string;
      query?: string | null;
      query_embedding?: number[] | null;
      options?: Json | null;
      as_of?: Date | string | null;
    },
  ): Promise<ExplainContextRow[]> {
    return this.rows('explain_context', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      query: 'text',
      query_embedding: 'halfvec',
      options: 'jsonb',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Return the head of a user's event chain, {user_id, event_count, event_hash, at}, to be kept
   * outside of the database for verify_integrity. RC001: the user does not exist.
   */
  export_head(
    given: { user_id: string },
  ): Promise<Json> {
    return this.value('export_head', given, { user_id: 'uuid' });
  }

  /**
   * Return all data of a user as one JSON document that import_user accepts. Derived rows (search
   * rows, receipts, leases) are left out. RC001: the user does not exist. RC003: the user does not
   * fit one document of 256 MB (export_user_pieces).
   */
  export_user(
    given: { user_id: string },
  ): Promise<Json> {
    return this.value('export_user', given, { user_id: 'uuid' });
  }

  /**
   * Return all data of a user as documents of p_piece_bytes at most, or of one row that is larger.
   * Pass them to import_user in this order, in one transaction. A user who fits one gets the
   * document of export_user. RC001: the user does not exist. RC003: p_piece_bytes is out of range.
   */
  export_user_pieces(
    given: { user_id: string; piece_bytes?: number | null },
  ): Promise<ExportUserPiecesRow[]> {
    return this.rows('export_user_pieces', given, { user_id: 'uuid', piece_bytes: 'integer' });
  }

  /**
   * Heartbeat: extend the lease of a job to p_lease from now. False when the lease has expired or
   * belongs to another worker.
   */
  extend_lease(
    given: { user_id: string; job_id: string; lease_token: string; lease: string },
  ): Promise<boolean> {
    return this.value('extend_lease', given, {
      user_id: 'uuid',
      job_id: 'uuid',
      lease_token: 'uuid',
      lease: 'interval',
    });
  }

  /**
   * Return a leased job with its error and the spans of the attempt. It is due again after a
   * backoff that doubles from 10 s to 1 h, and dead after its last attempt or without p_retry.
   * False when the lease has expired.
   */
  fail_job(
    given: {
      user_id: string;
      job_id: string;
      lease_token: string;
      error: string;
      retry?: boolean | null;
      phases?: Json | null;
    },
  ): Promise<boolean> {
    return this.value('fail_job', given, {
      user_id: 'uuid',
      job_id: 'uuid',
      lease_token: 'uuid',
      error: 'text',
      retry: 'boolean',
      phases: 'jsonb',
    });
  }

  /**
   * Add the logged accesses to the counters of their memories, one batch a call. done counts
   * accesses; more is true while some remain.
   */
  flush_access_log(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<FlushAccessLogRow[]> {
    return this.rows('flush_access_log', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Erase one memory permanently: all versions, what was consolidated from it, vectors and audit.
   * Its source messages stay. Returns {"counts": rows deleted by table}. RC001: the memory does
   * not exist.
   */
  forget_memory(
    given: { user_id: string; memory_id: string },
  ): Promise<Json> {
    return this.value('forget_memory', given, { user_id: 'uuid', memory_id: 'uuid' });
  }

  /**
   * Erase one session permanently: messages, summaries, jobs, calls, working memory, and memories
   * that have no other source. Returns {"counts": rows deleted by table}. RC001: the session does
   * not exist. RC007: the transaction is not read committed.
   */
  forget_session(
    given: { user_id: string; session_id: string },
  ): Promise<Json> {
    return this.value('forget_session', given, { user_id: 'uuid', session_id: 'uuid' });
  }

  /**
   * Erase all data of a user permanently. The receipt has erasure_id, salt, digest, erased_at, the
   * deleted rows by table, and a list of what SQL cannot reach. Keep it outside of the database
   * for replay_erasures. RC007: the transaction is not read committed.
   */
  forget_user(
    given: { user_id: string },
  ): Promise<Json> {
    return this.value('forget_user', given, { user_id: 'uuid' });
  }

  /**
   * The latest change of the embedding model: models, state (running, paused, switched,
   * cancelling, done, cancelled), progress, jobs, and estimated cost. No row before the first
   * change.
   */
  get_embedding_migration(): Promise<GetEmbeddingMigrationRow[]> {
    return this.rows('get_embedding_migration', {}, {});
  }

  /**
   * Items of a namespace by their keys, without those that are unknown or expired. RC003: a
   * malformed namespace.
   */
  get_items(
    given: { user_id: string; namespace: string[]; keys: string[] },
  ): Promise<GetItemsRow[]> {
    return this.rows('get_items', given, { user_id: 'uuid', namespace: 'text[]', keys: 'text[]' });
  }

  /**
   * A job of the user with its parameters: due, deferred, running or dead. No row when it is done
   * or unknown.
   */
  get_job(
    given: { user_id: string; job_id: string },
  ): Promise<GetJobRow[]> {
    return this.rows('get_job', given, { user_id: 'uuid', job_id: 'uuid' });
  }

  /**
   * Call log: the rules for a driver that records its own model calls: ledger (how much it
   * records), max_body (bytes), is_sealed (encrypted user), the patterns of stored headers and
   * masked secrets; and for a driver that encrypts, memory_max_characters, message_max_characters
   * and the time in milliseconds.
   */
  get_ledger_rules(
    given: { user_id: string },
  ): Promise<Json> {
    return this.value('get_ledger_rules', given, { user_id: 'uuid' });
  }

  /**
   * Memories of the user, oldest first; with p_as_of those that were active then. Filter keys:
   * kinds, kinds_none, tiers, scopes, slots, tags_any, tags_all, provenance, source,
   * source_session_id, agent_id, session_id, metadata, observed_after, observed_before, valid_at,
   * include_ended. p_after_id returns the page after that memory.
   */
  get_memories(
    given: {
      user_id: string;
      filter?: Json | null;
      as_of?: Date | string | null;
      limit?: number | null;
      after_id?: string | null;
    },
  ): Promise<MemoryRow[]> {
    return this.rows('get_memories', given, {
      user_id: 'uuid',
      filter: 'jsonb',
      as_of: 'timestamp with time zone',
      limit: 'integer',
      after_id: 'uuid',
    });
  }

  /**
   * A memory of the user, current or ended; no row when unknown.
   */
  get_memory(
    given: { user_id: string; memory_id: string },
  ): Promise<MemoryRow[]> {
    return this.rows('get_memory', given, { user_id: 'uuid', memory_id: 'uuid' });
  }

  /**
   * Messages of a session, newest first, without retracted turns. The next page holds turns below
   * p_before_turn. RC001: the session does not exist. RC003: a bad limit.
   */
  get_messages(
    given: {
      user_id: string;
      session_id: string;
      limit?: number | null;
      before_turn?: number | null;
      include_compacted?: boolean | null;
    },
  ): Promise<GetMessagesRow[]> {
    return this.rows('get_messages', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      limit: 'integer',
      before_turn: 'integer',
      include_compacted: 'boolean',
    });
  }

  /**
   * Messages by id, in the order of the ids: what source_turn_ids of a memory name. An unknown id
   * and a retracted turn give no row. RC003: more than 1,000 ids.
   */
  get_messages_by_id(
    given: { user_id: string; message_ids: string[] },
  ): Promise<GetMessagesByIdRow[]> {
    return this.rows('get_messages_by_id', given, { user_id: 'uuid', message_ids: 'uuid[]' });
  }

  /**
   * Profile of the user: {"slot": {"content", "since", "confidence", "memory_id"}}. since is
   * valid_from or, without one, observed_at.
   */
  get_profile(
    given: { user_id: string },
  ): Promise<Json> {
    return this.value('get_profile', given, { user_id: 'uuid' });
  }

  /**
   * A session of the user: status, model, counters, cost (micro-cents). No row when it does not
   * exist.
   */
  get_session(
    given: { user_id: string; session_id: string },
  ): Promise<SessionRow[]> {
    return this.rows('get_session', given, { user_id: 'uuid', session_id: 'uuid' });
  }

  /**
   * The settings of the installation, as an object of column names of recall.settings.
   */
  get_settings(): Promise<Json> {
    return this.value('get_settings', {}, {});
  }

  /**
   * The wrapped data encryption keys of an encrypted user, the name of the key encryption key of
   * each, and the driver's duties: whether to send vectors, how to treat secrets. No rows for
   * other users. RC007: the user is encrypted, but the keys are gone.
   */
  get_user_keys(
    given: { user_id: string },
  ): Promise<GetUserKeysRow[]> {
    return this.rows('get_user_keys', given, { user_id: 'uuid' });
  }

  /**
   * Working memory of a task as an object ({} when empty), or the value of one key (NULL when
   * unknown). Expired values are left out.
   */
  get_working(
    given: { user_id: string; session_id: string; task_id: string; key?: string | null },
  ): Promise<Json | null> {
    return this.value('get_working', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      task_id: 'text',
      key: 'text',
    });
  }

  /**
   * One row for each check: ok, warn or fail, a detail and a remedy. The cost does not depend on
   * the number of memories.
   */
  health(): Promise<HealthRow[]> {
    return this.rows('health', {}, {});
  }

  /**
   * Import a document of export_user for a user without data, or the next piece of
   * export_user_pieces: all pieces in one transaction. Returns the rows inserted, by table.
   * Importing the same document again changes nothing. Overrides that weaken the settings of this
   * database need p_allow_weaker. RC003: a malformed document, weaker overrides or dates in the
   * future. RC006: another user's document, or the user has other data.
   */
  import_user(
    given: { user_id: string; document: Json; allow_weaker?: boolean | null },
  ): Promise<Json> {
    return this.value('import_user', given, {
      user_id: 'uuid',
      document: 'jsonb',
      allow_weaker: 'boolean',
    });
  }

  /**
   * Write extracted or imported memories in one transaction, or none of them. Keys of a candidate:
   * content, kind, slot, tags, importance, confidence, provenance, source, observed_at,
   * valid_from, valid_to, source_turn_ids, embedding, embedding_model, token_count, agent_id,
   * metadata. metadata {"verbatim": true} marks a message kept as it stands. Creates an unknown
   * user. Ordinals count from 1; outcomes as of remember.
   */
  ingest_memories(
    given: {
      user_id: string;
      session_id: string;
      candidates: Json;
      embeddings?: (number[] | null)[] | null;
    },
  ): Promise<IngestMemoriesRow[]> {
    return this.rows('ingest_memories', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      candidates: 'jsonb',
      embeddings: 'halfvec[]',
    });
  }

  /**
   * Open contradictions of memories that the user stated, oldest first, with the disputed memory.
   * is_retraction: accepting the dispute ends that memory without a successor.
   */
  list_disputes(
    given: { user_id: string },
  ): Promise<ListDisputesRow[]> {
    return this.rows('list_disputes', given, { user_id: 'uuid' });
  }

  /**
   * List the digests of erased users, oldest first, to be kept outside of the database. The next
   * page starts after p_after_id. RC003: a bad limit.
   */
  list_erasures(
    given: { after_id?: string | null; limit?: number | null } = {},
  ): Promise<ListErasuresRow[]> {
    return this.rows('list_erasures', given, { after_id: 'uuid', limit: 'integer' });
  }

  /**
   * Spans of the user's jobs, newest first, of one job or of all: time, tokens, cost and error of
   * each phase, and the turns that an extraction has read. The next page starts after p_before_id.
   * RC003: a bad limit.
   */
  list_job_phases(
    given: {
      user_id: string;
      job_id?: string | null;
      limit?: number | null;
      before_id?: string | null;
    },
  ): Promise<ListJobPhasesRow[]> {
    return this.rows('list_job_phases', given, {
      user_id: 'uuid',
      job_id: 'uuid',
      limit: 'integer',
      before_id: 'uuid',
    });
  }

  /**
   * Jobs of all users, newest first: due, deferred, running or dead, with the last error. The next
   * page starts after p_before_id. Where recall.user_id is set, only that user's. RC003: an
   * unknown state, or a bad limit.
   */
  list_jobs(
    given: { state?: string | null; limit?: number | null; before_id?: string | null } = {},
  ): Promise<ListJobsRow[]> {
    return this.rows('list_jobs', given, { state: 'text', limit: 'integer', before_id: 'uuid' });
  }

  /**
   * Maintenance tasks: when each runs, whether it is enabled, when it ran last, by whom, and the
   * outcome.
   */
  list_maintenance(): Promise<ListMaintenanceRow[]> {
    return this.rows('list_maintenance', {}, {});
  }

  /**
   * Memories of the user, newest first by creation, for pages. Filter keys as in get_memories. The
   * next page starts after p_before_id. RC003: an unknown filter key, or a bad limit.
   */
  list_memories(
    given: {
      user_id: string;
      filter?: Json | null;
      limit?: number | null;
      before_id?: string | null;
    },
  ): Promise<MemoryRow[]> {
    return this.rows('list_memories', given, {
      user_id: 'uuid',
      filter: 'jsonb',
      limit: 'integer',
      before_id: 'uuid',
    });
  }

  /**
   * Audit of all memories of the user, newest first. For event decided, memory_id is the job. The
   * next page starts after p_before_no. RC003: a bad limit.
   */
  list_memory_events(
    given: { user_id: string; limit?: number | null; before_no?: bigint | number | null },
  ): Promise<ListMemoryEventsRow[]> {
    return this.rows('list_memory_events', given, {
      user_id: 'uuid',
      limit: 'integer',
      before_no: 'bigint',
    });
  }

  /**
   * Call log: model calls, newest first, of one session or of all.
   */
  list_model_calls(
    given: {
      user_id: string;
      session_id?: string | null;
      limit?: number | null;
      before_id?: string | null;
      call_id?: string | null;
      include_bodies?: boolean | null;
    },
  ): Promise<ListModelCallsRow[]> {
    return this.rows('list_model_calls', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      limit: 'integer',
      before_id: 'uuid',
      call_id: 'uuid',
      include_bodies: 'boolean',
    });
  }

  /**
   * Registered models by name: window in tokens, tiktoken encoding, prices in micro-cents per
   * million tokens.
   */
  list_models(): Promise<ListModelsRow[]> {
    return this.rows('list_models', {}, {});
  }

  /**
   * Namespaces that hold items, in order, cut to p_max_depth labels. The label * in p_prefix or
   * p_suffix stands for any label. RC003: malformed input.
   */
  list_namespaces(
    given: {
      user_id: string;
      prefix?: string[] | null;
      suffix?: string[] | null;
      max_depth?: number | null;
      limit?: number | null;
      offset?: number | null;
    },
  ): Promise<ListNamespacesRow[]> {
    return this.rows('list_namespaces', given, {
      user_id: 'uuid',
      prefix: 'text[]',
      suffix: 'text[]',
      max_depth: 'integer',
      limit: 'integer',
      offset: 'integer',
    });
  }

  /**
   * Prompts of the steps, those in use first: text, schema, tokens, SHA-256 (hex) of both.
   */
  list_prompts(): Promise<ListPromptsRow[]> {
    return this.rows('list_prompts', {}, {});
  }

  /**
   * Call log: traffic with tools, newest first, of one session, of one call or of all.
   */
  list_protocol_events(
    given: {
      user_id: string;
      session_id?: string | null;
      call_id?: string | null;
      limit?: number | null;
      before_id?: string | null;
    },
  ): Promise<ListProtocolEventsRow[]> {
    return this.rows('list_protocol_events', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      call_id: 'uuid',
      limit: 'integer',
      before_id: 'uuid',
    });
  }

  /**
   * Rows of an encrypted user with texts encrypted with one data encryption key: table, key and
   * ciphertexts, for reseal_rows. RC003: the key number is null, p_after names no table, or a bad
   * limit.
   */
  list_sealed_rows(
    given: {
      user_id: string;
      key_no: number;
      with_late?: boolean | null;
      after?: Json | null;
      limit?: number | null;
    },
  ): Promise<ListSealedRowsRow[]> {
    return this.rows('list_sealed_rows', given, {
      user_id: 'uuid',
      key_no: 'integer',
      with_late: 'boolean',
      after: 'jsonb',
      limit: 'integer',
    });
  }

  /**
   * Encrypted users by id: all, or those with a data encryption key that is not wrapped by
   * p_other_than. The next page starts after p_after_id. RC003: a bad limit.
   */
  list_sealed_users(
    given: { other_than?: string | null; after_id?: string | null; limit?: number | null } = {},
  ): Promise<ListSealedUsersRow[]> {
    return this.rows('list_sealed_users', given, {
      other_than: 'text',
      after_id: 'uuid',
      limit: 'integer',
    });
  }

  /**
   * The user's sessions, newest first by creation; the next page starts after p_before_id. RC001:
   * p_before_id does not exist. RC003: an unknown status, or a bad limit.
   */
  list_sessions(
    given: {
      user_id: string;
      status?: string | null;
      limit?: number | null;
      before_id?: string | null;
    },
  ): Promise<SessionRow[]> {
    return this.rows('list_sessions', given, {
      user_id: 'uuid',
      status: 'text',
      limit: 'integer',
      before_id: 'uuid',
    });
  }

  /**
   * Cost of the models that the user's jobs called, by day (UTC), newest first; a day without cost
   * has no row. RC003: a bad number of days.
   */
  list_spending(
    given: { user_id: string; days?: number | null },
  ): Promise<ListSpendingRow[]> {
    return this.rows('list_spending', given, { user_id: 'uuid', days: 'integer' });
  }

  /**
   * Call log: the events of a streamed call, in order.
   */
  list_stream_events(
    given: { user_id: string; call_id: string; limit?: number | null; after_index?: number | null },
  ): Promise<ListStreamEventsRow[]> {
    return this.rows('list_stream_events', given, {
      user_id: 'uuid',
      call_id: 'uuid',
      limit: 'integer',
      after_index: 'integer',
    });
  }

  /**
   * Summaries of a session, newest first, with the turns that each covers; one of each kind is
   * live, the others have ended. The next page starts after p_before_id. RC001: the session does
   * not exist. RC003: a bad limit.
   */
  list_summaries(
    given: {
      user_id: string;
      session_id: string;
      limit?: number | null;
      before_id?: string | null;
    },
  ): Promise<ListSummariesRow[]> {
    return this.rows('list_summaries', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      limit: 'integer',
      before_id: 'uuid',
    });
  }

  /**
   * Cost of the models that the jobs of all users called, by day (UTC), newest first; a day
   * without cost has no row. RC003: a bad number of days.
   */
  list_total_spending(
    given: { days?: number | null } = {},
  ): Promise<ListTotalSpendingRow[]> {
    return this.rows('list_total_spending', given, { days: 'integer' });
  }

  /**
   * Users by id, with the number of their active memories. The next page starts after p_after_id.
   * Where recall.user_id is set, only that user. RC003: a bad limit.
   */
  list_users(
    given: { after_id?: string | null; limit?: number | null } = {},
  ): Promise<ListUsersRow[]> {
    return this.rows('list_users', given, { after_id: 'uuid', limit: 'integer' });
  }

  /**
   * List the pg_cron jobs of maintenance, each with the statement that writes it where pg_cron
   * lives in another database.
   */
  maintenance_commands(): Promise<MaintenanceCommandsRow[]> {
    return this.rows('maintenance_commands', {}, {});
  }

  /**
   * Active memories whose review_at has come, longest due first.
   */
  memories_to_review(
    given: { user_id: string },
  ): Promise<MemoryRow[]> {
    return this.rows('memories_to_review', given, { user_id: 'uuid' });
  }

  /**
   * Every version of a memory, oldest first, merged memories included.
   */
  memory_chain(
    given: { user_id: string; memory_id: string },
  ): Promise<MemoryRow[]> {
    return this.rows('memory_chain', given, { user_id: 'uuid', memory_id: 'uuid' });
  }

  /**
   * Audit of a memory and its other versions, oldest first. detail.made_by: the prompts and models
   * of the job that made the change, as [{"prompt": "extract@1", "model": "…"}].
   */
  memory_history(
    given: { user_id: string; memory_id: string },
  ): Promise<MemoryHistoryRow[]> {
    return this.rows('memory_history', given, { user_id: 'uuid', memory_id: 'uuid' });
  }

  /**
   * SHA-256 (32 bytes) over role, content or parts, tool calls and tool call id of a message.
   * RC003: JSON that clients could not parse.
   */
  message_hash(
    given: { message: Json },
  ): Promise<Buffer> {
    return this.value('message_hash', given, { message: 'jsonb' });
  }

  /**
   * Gauges for Prometheus or Grafana, over all users: queue, a change of the embedding model, work
   * and cost of the last day, memories, storage, maintenance, connections, standby lag. Counts of
   * large tables are estimates. pgrecall_health is 0 for ok, 1 for warn, 2 for fail.
   */
  metrics(): Promise<MetricsRow[]> {
    return this.rows('metrics', {}, {});
  }

  /**
   * Go on with a change of the embedding model, one batch of users a call: enqueue jobs, switch
   * when no text is left, delete vectors. done counts users; more is true while some remain.
   */
  migrate_embeddings(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<MigrateEmbeddingsRow[]> {
    return this.rows('migrate_embeddings', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Active memories nearest to a vector, most similar first. similarity is the cosine, -1 to 1.
   */
  neighbors(
    given: {
      user_id: string;
      embedding: number[];
      limit?: number | null;
      min_similarity?: number | null;
    },
  ): Promise<NeighborsRow[]> {
    return this.rows('neighbors', given, {
      user_id: 'uuid',
      embedding: 'halfvec',
      limit: 'integer',
      min_similarity: 'real',
    });
  }

  /**
   * Messages of a caller-held list after the cursor, each with its 1-based position and its own
   * cursor. All messages are new when the cursor does not occur. RC003: not an array of objects.
   */
  new_messages_since(
    given: { cursor: Buffer; messages: Json },
  ): Promise<NewMessagesSinceRow[]> {
    return this.rows('new_messages_since', given, { cursor: 'bytea', messages: 'jsonb' });
  }

  /**
   * Process the answer to a leased job's last request and return its next request: chat, embed,
   * select, done, deferred, failed or gone. p_worker: models and limits that the worker offers;
   * p_answer: {"request_id", …}.
   */
  next_request(
    given: {
      user_id: string;
      job_id: string;
      lease_token: string;
      worker: Json;
      answer?: Json | null;
    },
  ): Promise<Json> {
    return this.value('next_request', given, {
      user_id: 'uuid',
      job_id: 'uuid',
      lease_token: 'uuid',
      worker: 'jsonb',
      answer: 'jsonb',
    });
  }

  /**
   * Open a session and return its id; an existing id of the same user is returned unchanged.
   * Limits are in tokens and micro-cents. RC001: the parent does not exist. RC003: a bad value.
   */
  open_session(
    given: {
      user_id: string;
      model_id: string;
      system_prompt?: string | null;
      context_window_size?: number | null;
      max_response_tokens?: number | null;
      session_id?: string | null;
      agent_id?: string | null;
      parent_session_id?: string | null;
      expires_in?: string | null;
      system_prompt_tokens?: number | null;
      temperature?: number | null;
      top_p?: number | null;
      cost_limit_microcents?: bigint | number | null;
      title?: string | null;
      metadata?: Json | null;
    },
  ): Promise<string> {
    return this.value('open_session', given, {
      user_id: 'uuid',
      model_id: 'text',
      system_prompt: 'text',
      context_window_size: 'integer',
      max_response_tokens: 'integer',
      session_id: 'uuid',
      agent_id: 'text',
      parent_session_id: 'uuid',
      expires_in: 'interval',
      system_prompt_tokens: 'integer',
      temperature: 'real',
      top_p: 'real',
      cost_limit_microcents: 'bigint',
      title: 'text',
      metadata: 'jsonb',
    });
  }

  /**
   * Pause the change of the embedding model; jobs in progress finish, and vectors stay. RC007: no
   * change is running.
   */
  pause_embedding_migration(): Promise<void> {
    return this.none('pause_embedding_migration', {}, {});
  }

  /**
   * Pause a session: it rejects messages until resume_session. RC001: the session does not exist.
   * RC002: the session is closed or expired.
   */
  pause_session(
    given: { user_id: string; session_id: string },
  ): Promise<void> {
    return this.none('pause_session', given, { user_id: 'uuid', session_id: 'uuid' });
  }

  /**
   * Retract the newest p_limit turns of a session and return them as get_messages does, newest
   * first. Concurrent calls return different turns. Compacted turns stay. RC001: the session does
   * not exist. RC003: a bad limit.
   */
  pop_turns(
    given: { user_id: string; session_id: string; limit?: number | null },
  ): Promise<PopTurnsRow[]> {
    return this.rows('pop_turns', given, { user_id: 'uuid', session_id: 'uuid', limit: 'integer' });
  }

  /**
   * Promote memories that have earned it by their use by one tier, one batch a call. done counts
   * memories; more is true while some remain.
   */
  promote_memories(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<PromoteMemoriesRow[]> {
    return this.rows('promote_memories', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Delete one batch of rows past their retention: receipts of appends, vectors of ended memories,
   * search rows of compacted turns, old daily spending, packing efficiencies, unused system
   * prompts, and history past a user's own retention. done counts rows; more is true while some
   * remain.
   */
  purge_expired(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<PurgeExpiredRow[]> {
    return this.rows('purge_expired', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Store items: a list of objects with namespace, key, value, and if wanted ttl (minutes) and
   * vectors (path, embedding). A null value deletes the item. Returns how many different items the
   * list names. p_embedding_model names the model of the vectors (NULL: settings.embedding_model).
   * RC003: a malformed item, or a secret. RC004: a malformed vector. RC010: more items or bytes
   * than settings.items_per_user and item_bytes_per_user allow.
   */
  put_items(
    given: { user_id: string; items: Json; embedding_model?: string | null },
  ): Promise<number> {
    return this.value('put_items', given, {
      user_id: 'uuid',
      items: 'jsonb',
      embedding_model: 'text',
    });
  }

  /**
   * Store a value of a task's working memory. It expires after p_ttl (NULL: settings.working_ttl);
   * a repeated write renews it.
   */
  put_working(
    given: {
      user_id: string;
      session_id: string;
      task_id: string;
      key: string;
      value: Json;
      ttl?: string | null;
      token_count?: number | null;
    },
  ): Promise<void> {
    return this.none('put_working', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      task_id: 'text',
      key: 'text',
      value: 'jsonb',
      ttl: 'interval',
      token_count: 'integer',
    });
  }

  /**
   * The time that a query names ("last week", "in March", "as of 9 June"; English only), as a
   * window [since, until) of whole days in p_time_zone. since is NULL for a window without a
   * beginning. No row when the query names no time.
   */
  query_dates(
    given: { query: string; now?: Date | string | null; time_zone?: string | null },
  ): Promise<QueryDatesRow[]> {
    return this.rows('query_dates', given, {
      query: 'text',
      now: 'timestamp with time zone',
      time_zone: 'text',
    });
  }

  /**
   * Record that memories were used, with their relevance (clamped to 0 to 1); counted in batches
   * later. Returns how many were recorded; ids that are no active memory of the user are skipped.
   * p_efficiency: budget.efficiency of compile_context, kept for a day for metrics.
   */
  record_access(
    given: {
      user_id: string;
      memory_ids: string[];
      relevance: number[];
      efficiency?: number | null;
    },
  ): Promise<number> {
    return this.value('record_access', given, {
      user_id: 'uuid',
      memory_ids: 'uuid[]',
      relevance: 'real[]',
      efficiency: 'real',
    });
  }

  /**
   * Call log: record one model call and return its id. Bodies are stored byte for byte, except
   * that credentials are masked and bodies above settings.ledger_max_body bytes are cut (their
   * length is in metadata.truncated). Only headers known to be harmless are stored. NULL
   * p_cost_microcents: the cost by the prices in models.
   */
  record_model_call(
    given: {
      user_id: string;
      model: string;
      provider?: string | null;
      endpoint?: string | null;
      request?: Json | null;
      response?: Json | null;
      usage?: Json | null;
      error?: string | null;
      request_id?: string | null;
      status_code?: number | null;
      started_at?: Date | string | null;
      completed_at?: Date | string | null;
      is_stream?: boolean | null;
      request_body?: Buffer | null;
      response_body?: Buffer | null;
      request_headers?: Json | null;
      response_headers?: Json | null;
      session_id?: string | null;
      job_id?: string | null;
      cost_microcents?: bigint | number | null;
      metadata?: Json | null;
      call_id?: string | null;
    },
  ): Promise<string> {
    return this.value('record_model_call', given, {
      user_id: 'uuid',
      model: 'text',
      provider: 'text',
      endpoint: 'text',
      request: 'jsonb',
      response: 'jsonb',
      usage: 'jsonb',
      error: 'text',
      request_id: 'text',
      status_code: 'integer',
      started_at: 'timestamp with time zone',
      completed_at: 'timestamp with time zone',
      is_stream: 'boolean',
      request_body: 'bytea',
      response_body: 'bytea',
      request_headers: 'jsonb',
      response_headers: 'jsonb',
      session_id: 'uuid',
      job_id: 'uuid',
      cost_microcents: 'bigint',
      metadata: 'jsonb',
      call_id: 'uuid',
    });
  }

  /**
   * Call log: record a message from or to a tool, with credentials masked, and return its id.
   */
  record_protocol_event(
    given: {
      user_id: string;
      event_type: string;
      direction?: string | null;
      method?: string | null;
      payload?: Json | null;
      rpc_id?: string | null;
      tool_name?: string | null;
      tool_call_id?: string | null;
      session_id?: string | null;
      call_id?: string | null;
      payload_body?: Buffer | null;
      metadata?: Json | null;
      event_id?: string | null;
    },
  ): Promise<string> {
    return this.value('record_protocol_event', given, {
      user_id: 'uuid',
      event_type: 'text',
      direction: 'text',
      method: 'text',
      payload: 'jsonb',
      rpc_id: 'text',
      tool_name: 'text',
      tool_call_id: 'text',
      session_id: 'uuid',
      call_id: 'uuid',
      payload_body: 'bytea',
      metadata: 'jsonb',
      event_id: 'uuid',
    });
  }

  /**
   * Call log: record the events of a streamed call, with credentials masked, and return how many
   * were new. An event has index (from 0), type, text_delta, payload, binary_payload (base64),
   * mime_type and occurred_at. Pass all events of a stream in one call: a secret split over calls
   * is not found.
   */
  record_stream_events(
    given: { user_id: string; call_id: string; events: Json },
  ): Promise<number> {
    return this.value('record_stream_events', given, {
      user_id: 'uuid',
      call_id: 'uuid',
      events: 'jsonb',
    });
  }

  /**
   * Register a kind of memory, or change it: its lifetime, and when it should be confirmed again.
   * RC003: a bad value.
   */
  register_kind(
    given: {
      kind: string;
      description: string;
      lifetime?: string | null;
      is_behavioral?: boolean | null;
      review_after?: string | null;
    },
  ): Promise<void> {
    return this.none('register_kind', given, {
      kind: 'text',
      description: 'text',
      lifetime: 'interval',
      is_behavioral: 'boolean',
      review_after: 'interval',
    });
  }

  /**
   * Register a model, or change it: window in tokens, tiktoken encoding, prices in micro-cents per
   * million tokens. RC003: a bad value.
   */
  register_model(
    given: {
      model_id: string;
      context_window_size: number;
      tokenizer?: string | null;
      input_price?: bigint | number | null;
      cached_input_price?: bigint | number | null;
      output_price?: bigint | number | null;
    },
  ): Promise<void> {
    return this.none('register_model', given, {
      model_id: 'text',
      context_window_size: 'integer',
      tokenizer: 'text',
      input_price: 'bigint',
      cached_input_price: 'bigint',
      output_price: 'bigint',
    });
  }

  /**
   * Record whether a memory helped. Useful: an access of relevance 1.0; importance and confidence
   * move a tenth of the way to 1. Not useful: both lose a fifth, relevance 1.0 is taken back, and
   * below confidence 0.5 the memory is due for review. False when it was not active.
   */
  reinforce_memory(
    given: { user_id: string; memory_id: string; useful: boolean },
  ): Promise<boolean> {
    return this.value('reinforce_memory', given, {
      user_id: 'uuid',
      memory_id: 'uuid',
      useful: 'boolean',
    });
  }

  /**
   * Return jobs with an expired lease to the queue, one batch a call: done is their number, more
   * whether others remain.
   */
  release_expired_leases(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<ReleaseExpiredLeasesRow[]> {
    return this.rows('release_expired_leases', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Remember one text (importance 0 to 1); creates an unknown user. Outcome: added; duplicate
   * (memory_id already states it; a slot or kind that it has stays); merged or superseded (it
   * replaces a nearly equal memory, or the one in its slot); disputed (it contradicts what the
   * user stated, and a person decides). Without an embedding only equal texts are recognized. A
   * model passes the user's words, which prove the text.
   */
  remember(
    given: {
      user_id: string;
      content: string;
      kind?: string | null;
      slot?: string | null;
      tags?: string[] | null;
      importance?: number | null;
      provenance?: 'user_stated' | 'correction' | 'instruction' | 'preference' | 'fact' | 'tool_output' | 'system_inferred' | null;
      embedding?: number[] | null;
      session_id?: string | null;
      agent_id?: string | null;
      observed_at?: Date | string | null;
      expires_at?: Date | string | null;
      token_count?: number | null;
      metadata?: Json | null;
      user_words?: string | null;
      current_message?: string | null;
    },
  ): Promise<RememberRow[]> {
    return this.rows('remember', given, {
      user_id: 'uuid',
      content: 'text',
      kind: 'text',
      slot: 'text',
      tags: 'text[]',
      importance: 'real',
      provenance: 'provenance',
      embedding: 'halfvec',
      session_id: 'uuid',
      agent_id: 'text',
      observed_at: 'timestamp with time zone',
      expires_at: 'timestamp with time zone',
      token_count: 'integer',
      metadata: 'jsonb',
      user_words: 'text',
      current_message: 'text',
    });
  }

  /**
   * Erase users again after a restore, by the digests stored here and by those given as receipts
   * or rows of list_erasures. Returns how many users were erased. RC003: malformed erasures.
   * RC007: the transaction is not read committed.
   */
  replay_erasures(
    given: { erasures?: Json | null } = {},
  ): Promise<number> {
    return this.value('replay_erasures', given, { erasures: 'jsonb' });
  }

  /**
   * Exchange ciphertexts of an encrypted user for those of the newest data encryption key. Returns
   * how many rows changed. p_replaced_key removes or retires the old key. RC003: malformed rows.
   * RC006: a plaintext value. RC007: texts still use the old key.
   */
  reseal_rows(
    given: { user_id: string; rows: Json; replaced_key?: number | null },
  ): Promise<number> {
    return this.value('reseal_rows', given, {
      user_id: 'uuid',
      rows: 'jsonb',
      replaced_key: 'integer',
    });
  }

  /**
   * Use the release's prompt of a step again; returns its name in the provenance.
   */
  reset_prompt(
    given: { name: string; language?: string | null },
  ): Promise<string> {
    return this.value('reset_prompt', given, { name: 'text', language: 'text' });
  }

  /**
   * Accept or refuse a disputed memory. Returns the id of the memory that stands; NULL when an
   * accepted dispute ends the memory without a successor.
   */
  resolve_dispute(
    given: { user_id: string; memory_id: string; accept: boolean },
  ): Promise<string | null> {
    return this.value('resolve_dispute', given, {
      user_id: 'uuid',
      memory_id: 'uuid',
      accept: 'boolean',
    });
  }

  /**
   * Undo a merge, retraction, expiry or edit: a new row with the old text follows. Returns its id.
   * After an edit, the edited row ends; after a merge, the merged memory stays active.
   */
  restore_memory(
    given: { user_id: string; memory_id: string },
  ): Promise<string> {
    return this.value('restore_memory', given, { user_id: 'uuid', memory_id: 'uuid' });
  }

  /**
   * Resume a paused change of the embedding model. RC007: no change is paused.
   */
  resume_embedding_migration(): Promise<void> {
    return this.none('resume_embedding_migration', {}, {});
  }

  /**
   * Accept messages in a session again; also for closed and expired sessions. RC001: the session
   * does not exist.
   */
  resume_session(
    given: { user_id: string; session_id: string },
  ): Promise<void> {
    return this.none('resume_session', given, { user_id: 'uuid', session_id: 'uuid' });
  }

  /**
   * End one memory without deleting it. False when it was not active.
   */
  retract_memory(
    given: { user_id: string; memory_id: string; reason?: string | null },
  ): Promise<boolean> {
    return this.value('retract_memory', given, {
      user_id: 'uuid',
      memory_id: 'uuid',
      reason: 'text',
    });
  }

  /**
   * Retract the turns from p_from_turn on; they stay on record. Returns how many turns were
   * retracted. RC001: the session does not exist. RC003: the turn does not exist. RC006: the turn
   * is compacted.
   */
  retract_turns(
    given: { user_id: string; session_id: string; from_turn: number },
  ): Promise<number> {
    return this.value('retract_turns', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      from_turn: 'integer',
    });
  }

  /**
   * Make dead jobs due again, the oldest first. Returns how many.
   */
  retry_dead_jobs(
    given: { kind?: string | null; limit?: number | null } = {},
  ): Promise<number> {
    return this.value('retry_dead_jobs', given, { kind: 'text', limit: 'integer' });
  }

  /**
   * End all memories drawn from a compromised session or source (conversation, manual, inference,
   * tool, consolidation, import) as revoked, and restore the memories that they superseded.
   * Returns how many active memories ended. RC001: the session does not exist. RC003: neither is
   * given, or the source is unknown.
   */
  revoke_source(
    given: {
      user_id: string;
      source_session_id?: string | null;
      source?: string | null;
      reason?: string | null;
    },
  ): Promise<number> {
    return this.value('revoke_source', given, {
      user_id: 'uuid',
      source_session_id: 'uuid',
      source: 'text',
      reason: 'text',
    });
  }

  /**
   * Replace the wrapped form of a data encryption key. Returns false if p_previous is no longer
   * the stored form. RC003: a malformed wrapped key.
   */
  rewrap_user_key(
    given: {
      user_id: string;
      key_no: number;
      previous: Buffer;
      wrapped_key: Buffer;
      wrapping_key: string;
    },
  ): Promise<boolean> {
    return this.value('rewrap_user_key', given, {
      user_id: 'uuid',
      key_no: 'integer',
      previous: 'bytea',
      wrapped_key: 'bytea',
      wrapping_key: 'text',
    });
  }

  /**
   * Run one batch of the data change that an upgrade left to maintenance, the oldest first. done
   * counts rows; more is true while some remain. health() shows the progress.
   */
  run_backfills(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<RunBackfillsRow[]> {
    return this.rows('run_backfills', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Run a batch of each due maintenance task within a short transaction, for workers without
   * pg_cron. Call again while rows come.
   */
  run_due_maintenance(): Promise<RunDueMaintenanceRow[]> {
    return this.rows('run_due_maintenance', {}, {});
  }

  /**
   * Run one maintenance task in a short call. The result has done (rows), more (call again; after
   * a pause when it says waits) and ms, error when it failed, or skipped while it runs elsewhere.
   */
  run_maintenance(
    given: { task: string },
  ): Promise<Json> {
    return this.value('run_maintenance', given, { task: 'text' });
  }

  /**
   * Measure the recall of the approximate searches, one batch a call: the share of the ten exactly
   * nearest vectors among their candidates, for random stored vectors of users with more than
   * exact_search_limit memories or messages. done counts samples; more is true while some remain
   * for the day. metrics() and health() report the result.
   */
  sample_recall(
    given: { limit?: number | null; as_of?: Date | string | null } = {},
  ): Promise<SampleRecallRow[]> {
    return this.rows('sample_recall', given, {
      limit: 'integer',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Let pg_cron run the enabled maintenance tasks as the calling role, and return its jobs. A
   * repeated call updates schedules and removes the jobs of disabled tasks.
   */
  schedule_maintenance(): Promise<ScheduleMaintenanceRow[]> {
    return this.rows('schedule_maintenance', {}, {});
  }

  /**
   * Make a user without data encrypted: from now on drivers send all texts as ciphertext. Returns
   * false if the user was encrypted already. RC003: a malformed wrapped key. RC006: the user has
   * data.
   */
  seal_user(
    given: {
      user_id: string;
      wrapped_key: Buffer;
      wrapping_key: string;
      with_vectors?: boolean | null;
    },
  ): Promise<boolean> {
    return this.value('seal_user', given, {
      user_id: 'uuid',
      wrapped_key: 'bytea',
      wrapping_key: 'text',
      with_vectors: 'boolean',
    });
  }

  /**
   * Memories of the user for a text, a vector or both, best first; without both, the most
   * important and recent. Filter: kinds, kinds_none, tiers, scopes, slots, tags_any, tags_all,
   * provenance, source, source_session_id, agent_id, session_id, metadata, observed_after,
   * observed_before, valid_at, min_similarity, min_match, include_ended, stale (false: without
   * unimportant memories that nobody has used for long, true: only those); asked_at (time of the
   * query, for "last week"; default as_of, or now), dates (false: such expressions favor nothing).
   * as_of searches what was known at that time. score = decay × the sum of the parts; relevance is
   * the classic score (0 to 1); match says how well a memory fits the query, from 0 (no better
   * than any text) to 1, comparable between queries.
   */
  search(
    given: {
      user_id: string;
      query?: string | null;
      query_embedding?: number[] | null;
      limit?: number | null;
      filter?: Json | null;
      as_of?: Date | string | null;
    },
  ): Promise<FoundMemory[]> {
    return this.rows('search', given, {
      user_id: 'uuid',
      query: 'text',
      query_embedding: 'halfvec',
      limit: 'integer',
      filter: 'jsonb',
      as_of: 'timestamp with time zone',
    });
  }

  /**
   * Items whose namespace begins with p_namespace. p_filter: fields with a value, or with $eq,
   * $ne, $gt, $gte, $lt, $lte. With a vector the nearest come first, and score is 1 - distance
   * (cosine), -distance (l2) or the product (inner_product); else the latest written come first.
   * RC003: malformed input. RC004: a malformed vector. RC006: a filter over values of an encrypted
   * user.
   */
  search_items(
    given: {
      user_id: string;
      namespace?: string[] | null;
      filter?: Json | null;
      query_embedding?: number[] | null;
      embedding_model?: string | null;
      distance?: string | null;
      limit?: number | null;
      offset?: number | null;
    },
  ): Promise<SearchItemsRow[]> {
    return this.rows('search_items', given, {
      user_id: 'uuid',
      namespace: 'text[]',
      filter: 'jsonb',
      query_embedding: 'double precision[]',
      embedding_model: 'text',
      distance: 'text',
      limit: 'integer',
      offset: 'integer',
    });
  }

  /**
   * Turns of all sessions of a user, best first, with the parts that add up to the score. It finds
   * turns that a worker's embed job has indexed; an append enqueues the job. Filter: session_id,
   * agent_id, since, until, roles, metadata (containment); asked_at (time of the query, for "last
   * week"; default now), dates (false: such expressions favor nothing).
   */
  search_messages(
    given: {
      user_id: string;
      query: string;
      query_embedding?: number[] | null;
      limit?: number | null;
      filter?: Json | null;
    },
  ): Promise<FoundMessage[]> {
    return this.rows('search_messages', given, {
      user_id: 'uuid',
      query: 'text',
      query_embedding: 'halfvec',
      limit: 'integer',
      filter: 'jsonb',
    });
  }

  /**
   * Sessions of a user by title, summary and best turn, best first; without a query the last
   * active first, with score 0. turn_index, role and content are those of the best turn.
   */
  search_sessions(
    given: {
      user_id: string;
      query?: string | null;
      query_embedding?: number[] | null;
      limit?: number | null;
    },
  ): Promise<SearchSessionsRow[]> {
    return this.rows('search_sessions', given, {
      user_id: 'uuid',
      query: 'text',
      query_embedding: 'halfvec',
      limit: 'integer',
    });
  }

  /**
   * Use an own prompt for a step (extract, consolidate, summarize, compact, merge, pattern,
   * verify), with the schema of the answer (NULL: the shipped one). Returns its name in the
   * provenance.
   */
  set_prompt(
    given: {
      name: string;
      content: string;
      version: string;
      schema?: Json | null;
      language?: string | null;
    },
  ): Promise<string> {
    return this.value('set_prompt', given, {
      name: 'text',
      content: 'text',
      version: 'text',
      schema: 'jsonb',
      language: 'text',
    });
  }

  /**
   * Record the role whose pg_cron jobs run maintenance here, as schedule_maintenance does; NULL:
   * no role.
   */
  set_scheduler(
    given: { role?: string | null } = {},
  ): Promise<void> {
    return this.none('set_scheduler', given, { role: 'text' });
  }

  /**
   * Start to embed all texts by another model while searches use the current one. Maintenance then
   * switches the model, and deletes the old vectors p_keep later. RC003: a bad value. RC007:
   * another change has not ended, or the model is the current one.
   */
  start_embedding_migration(
    given: { model: string; dimensions?: number | null; keep?: string | null },
  ): Promise<void> {
    return this.none('start_embedding_migration', given, {
      model: 'text',
      dimensions: 'integer',
      keep: 'interval',
    });
  }

  /**
   * Edit a memory: a new row with p_content and p_changes supersedes it. Returns the new id.
   * p_changes: keys of a candidate, expires_at, review_at; null removes a value, other values
   * stay. Pass the vector of the new text as p_changes.embedding, or add it later.
   */
  supersede_memory(
    given: { user_id: string; memory_id: string; content: string; changes?: Json | null },
  ): Promise<string> {
    return this.value('supersede_memory', given, {
      user_id: 'uuid',
      memory_id: 'uuid',
      content: 'text',
      changes: 'jsonb',
    });
  }

  /**
   * Switch to the new embedding model now, and return how many texts have no vector of it yet.
   * RC007: no change is running, or more texts than p_missing lack a vector.
   */
  switch_embedding_model(
    given: { missing?: bigint | number | null } = {},
  ): Promise<bigint> {
    return this.value('switch_embedding_model', given, { missing: 'bigint' });
  }

  /**
   * Renew the lifetime of items of a namespace by their keys. Returns how many were renewed: items
   * without a ttl or expired ones are not. RC003: a malformed namespace.
   */
  touch_items(
    given: { user_id: string; namespace: string[]; keys: string[] },
  ): Promise<number> {
    return this.value('touch_items', given, {
      user_id: 'uuid',
      namespace: 'text[]',
      keys: 'text[]',
    });
  }

  /**
   * Remove the caller's pg_cron jobs that run maintenance here. Returns how many there were.
   */
  unschedule_maintenance(): Promise<number> {
    return this.value('unschedule_maintenance', {}, {});
  }

  /**
   * Change model, window, prompt, sampling, limits, title or metadata (merged; null removes a key)
   * of a session. RC001: the session does not exist. RC003: an unknown key, or a bad value.
   */
  update_session(
    given: { user_id: string; session_id: string; changes: Json },
  ): Promise<void> {
    return this.none('update_session', given, {
      user_id: 'uuid',
      session_id: 'uuid',
      changes: 'jsonb',
    });
  }

  /**
   * UUID of a user from any text: itself when it is a UUID, else UUIDv8 from SHA-256 of the
   * namespace 5ba7c0de-7e11-4d2a-9c3b-70677265636c and the text. RC003: an empty text, more than
   * 1000 characters, or a UUIDv8.
   */
  user_id(
    given: { external_id: string },
  ): Promise<string> {
    return this.value('user_id', given, { external_id: 'text' });
  }

  /**
   * A new UUIDv7: 48 bits of Unix milliseconds, then random bits. Ids of the same millisecond are
   * unordered.
   */
  uuidv7(): Promise<string> {
    return this.value('uuidv7', {}, {});
  }

  /**
   * Confirm a memory: validated, confidence at least 0.9, and its review is due after its kind's
   * interval again. A memory of one session that the user stated applies to all. The call counts
   * as a use. False when it was not active.
   */
  validate_memory(
    given: { user_id: string; memory_id: string },
  ): Promise<boolean> {
    return this.value('validate_memory', given, { user_id: 'uuid', memory_id: 'uuid' });
  }

  /**
   * List changes at rest to a user's memories and events: finding, event, memory, detail. Findings
   * are event_changed, event_missing, event_inserted, event_moved, head_changed, memory_changed,
   * memory_missing, memory_inserted, and with a head of export_head also chain_shortened and
   * chain_rewritten. No rows means no change was found. RC001: the user does not exist. RC003: a
   * malformed head. RC006: the head of another user.
   */
  verify_integrity(
    given: { user_id: string; head?: Json | null },
  ): Promise<VerifyIntegrityRow[]> {
    return this.rows('verify_integrity', given, { user_id: 'uuid', head: 'jsonb' });
  }

  /**
   * Version of the installed schema: MAJOR.MINOR.PATCH, with .devN before its release.
   */
  version(): Promise<string> {
    return this.value('version', {}, {});
  }

  /**
   * Ready jobs by kind and mode: whether they need a language model, how many are due, how many
   * are deferred, and when the first of those is due. Where recall.user_id is set, the function
   * counts that user's jobs only.
   */
  waiting_jobs(): Promise<WaitingJobsRow[]> {
    return this.rows('waiting_jobs', {}, {});
  }
}
