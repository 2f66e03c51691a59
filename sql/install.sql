-- Install or upgrade pgrecall in the connected database:
--     psql -d DATABASE -f sql/install.sql
-- The single list of files in their order; whatever else needs it reads it from here. One
-- transaction under a lock: it is all there, or nothing is. Run it again to upgrade.
-- Sizes may be set beforehand, as in
--     PGOPTIONS="-c recall.embedding_dimensions=384 -c recall.hash_partitions=8" psql …
\set ON_ERROR_STOP on
begin;

-- What must be true, who will own it
\ir preflight.sql
\ir roles.sql

-- What is created once
\ir types.sql
\ir tables/settings.sql
\ir tables/registries.sql
\ir tables/users.sql
\ir tables/sessions.sql
\ir tables/history.sql
\ir tables/memory.sql
\ir tables/jobs.sql
\ir tables/operation.sql
\ir indexes.sql

-- functions/common
\ir ../functions/common/_check_embedding.sql
\ir ../functions/common/_check_job_kind.sql
\ir ../functions/common/_check_keys.sql
\ir ../functions/common/_check_limit.sql
\ir ../functions/common/_check_metadata.sql
\ir ../functions/common/_check_user.sql
\ir ../functions/common/_normalize_text.sql
\ir ../functions/common/_content_hash.sql
\ir ../functions/common/_content_text.sql
\ir ../functions/common/_create_hash_leaves.sql
\ir ../functions/common/_create_leaf.sql
\ir ../functions/common/_embedding_from_json.sql
\ir ../functions/common/_embeddings_from_json.sql
\ir ../functions/common/_enqueue_extraction.sql
\ir ../functions/common/_ensure_month.sql
\ir ../functions/common/_ensure_user.sql
\ir ../functions/common/_estimate_tokens.sql
\ir ../functions/common/_estimate_message_tokens.sql
\ir ../functions/common/_extraction_mode.sql
\ir ../functions/common/_hash_leaf.sql
\ir ../functions/common/_history_budget.sql
\ir ../functions/common/_integer.sql
\ir ../functions/common/_lock_session.sql
\ir ../functions/common/_lock_user.sql
\ir ../functions/common/_log_event.sql
\ir ../functions/common/_merge_metadata.sql
\ir ../functions/common/_message_text.sql
\ir ../functions/common/_month_leaves.sql
\ir ../functions/common/_read_session.sql
\ir ../functions/common/_refuse_update.sql
\ir ../functions/common/_settings.sql
\ir ../functions/common/_unknown_memory.sql
\ir ../functions/common/_unknown_session.sql
\ir ../functions/common/_uuids.sql
\ir ../functions/common/enqueue_job.sql
\ir ../functions/common/uuidv7.sql

-- functions/session
\ir ../functions/session/_check_session_values.sql
\ir ../functions/session/_check_settings_keys.sql
\ir ../functions/session/_inherit_summary.sql
\ir ../functions/session/_session_expiry.sql
\ir ../functions/session/_set_session_status.sql
\ir ../functions/session/_store_system_prompt.sql
\ir ../functions/session/_write_settings.sql
\ir ../functions/session/close_session.sql
\ir ../functions/session/configure.sql
\ir ../functions/session/configure_user.sql
\ir ../functions/session/ensure_user.sql
\ir ../functions/session/get_session.sql
\ir ../functions/session/list_sessions.sql
\ir ../functions/session/open_session.sql
\ir ../functions/session/pause_session.sql
\ir ../functions/session/register_kind.sql
\ir ../functions/session/register_model.sql
\ir ../functions/session/resume_session.sql
\ir ../functions/session/update_session.sql
\ir ../functions/session/user_id.sql

-- functions/history
\ir ../functions/history/_check_messages.sql
\ir ../functions/history/_check_tool_answers.sql
\ir ../functions/history/_enqueue_turn_work.sql
\ir ../functions/history/_ensure_history_months.sql
\ir ../functions/history/_insert_messages.sql
\ir ../functions/history/_judge_message_fields.sql
\ir ../functions/history/_judge_parts.sql
\ir ../functions/history/_judge_tool_calls.sql
\ir ../functions/history/_judge_messages.sql
\ir ../functions/history/_message_extra.sql
\ir ../functions/history/_message_rows.sql
\ir ../functions/history/message_hash.sql
\ir ../functions/history/_parse_messages.sql
\ir ../functions/history/_read_receipt.sql
\ir ../functions/history/_read_usage.sql
\ir ../functions/history/_write_receipt.sql
\ir ../functions/history/annotate_message.sql
\ir ../functions/history/append_messages.sql
\ir ../functions/history/get_messages.sql
\ir ../functions/history/new_messages_since.sql
\ir ../functions/history/retract_turns.sql

-- functions/memory
\ir ../functions/memory/_candidate_embeddings.sql
\ir ../functions/memory/_candidate_origin.sql
\ir ../functions/memory/_candidate_rows.sql
\ir ../functions/memory/_check_candidates.sql
\ir ../functions/memory/_combine_memories.sql
\ir ../functions/memory/_count_memories.sql
\ir ../functions/memory/_embed_memory.sql
\ir ../functions/memory/_end_memory.sql
\ir ../functions/memory/_filter_texts.sql
\ir ../functions/memory/_filter_value.sql
\ir ../functions/memory/_find_near_duplicate.sql
\ir ../functions/memory/_guard_words.sql
\ir ../functions/memory/_inherit_standing.sql
\ir ../functions/memory/_insert_memories.sql
\ir ../functions/memory/_insert_plain_memories.sql
\ir ../functions/memory/_is_promotion_due.sql
\ir ../functions/memory/_is_protected.sql
\ir ../functions/memory/_judge_candidate_fields.sql
\ir ../functions/memory/_judge_candidates.sql
\ir ../functions/memory/_may_stand_for.sql
\ir ../functions/memory/_memory_matches.sql
\ir ../functions/memory/_memory_visible.sql
\ir ../functions/memory/_near_duplicate_guard.sql
\ir ../functions/memory/_near_places.sql
\ir ../functions/memory/_place_memories.sql
\ir ../functions/memory/_place_memory.sql
\ir ../functions/memory/_read_filter.sql
\ir ../functions/memory/_read_memory.sql
\ir ../functions/memory/_repeat_memory.sql
\ir ../functions/memory/_replace_memories.sql
\ir ../functions/memory/_reversing_words.sql
\ir ../functions/memory/_starting_tier.sql
\ir ../functions/memory/_store_dispute.sql
\ir ../functions/memory/_update_memory.sql
\ir ../functions/memory/ingest_memories.sql
\ir ../functions/memory/remember.sql

-- functions/context
\ir ../functions/context/_check_cost.sql
\ir ../functions/context/_classify_task.sql
\ir ../functions/context/_context_candidates.sql
\ir ../functions/context/_context_options.sql
\ir ../functions/context/_current_message.sql
\ir ../functions/context/_history_window.sql
\ir ../functions/context/_is_whole_exchange.sql
\ir ../functions/context/_live_summary.sql
\ir ../functions/context/_plain_text.sql
\ir ../functions/context/_memory_heading.sql
\ir ../functions/context/_memory_line.sql
\ir ../functions/context/_memory_block.sql
\ir ../functions/context/_memory_heading_tokens.sql
\ir ../functions/context/_message_cost.sql
\ir ../functions/context/_message_json.sql
\ir ../functions/context/_pack_memories.sql
\ir ../functions/context/_rows_that_fit.sql
\ir ../functions/context/_select_context.sql
\ir ../functions/context/_system_message.sql
\ir ../functions/context/_working_block.sql
\ir ../functions/context/compile_context.sql
\ir ../functions/context/explain_context.sql

-- functions/lifecycle
\ir ../functions/lifecycle/_record_month_range.sql
\ir ../functions/lifecycle/ensure_partitions.sql

-- functions/jobs
\ir ../functions/jobs/_advance_extraction.sql
\ir ../functions/jobs/_backoff.sql
\ir ../functions/jobs/_check_exchange_start.sql
\ir ../functions/jobs/_check_model.sql
\ir ../functions/jobs/_compact_input.sql
\ir ../functions/jobs/_compaction_window.sql
\ir ../functions/jobs/_embed_if_active.sql
\ir ../functions/jobs/_embed_input.sql
\ir ../functions/jobs/_finish_compact.sql
\ir ../functions/jobs/_finish_embed.sql
\ir ../functions/jobs/_finish_summarize.sql
\ir ../functions/jobs/_finish_verbatim.sql
\ir ../functions/jobs/_has_unembedded.sql
\ir ../functions/jobs/_index_messages.sql
\ir ../functions/jobs/_lease_job.sql
\ir ../functions/jobs/_no_step.sql
\ir ../functions/jobs/_put_off_extraction.sql
\ir ../functions/jobs/_read_leased_job.sql
\ir ../functions/jobs/_retracted_turns.sql
\ir ../functions/jobs/_return_job.sql
\ir ../functions/jobs/_searchable_messages.sql
\ir ../functions/jobs/_summarize_input.sql
\ir ../functions/jobs/_summary_text.sql
\ir ../functions/jobs/_through_turn.sql
\ir ../functions/jobs/_turns_json.sql
\ir ../functions/jobs/_vector_list.sql
\ir ../functions/jobs/_verbatim_candidates.sql
\ir ../functions/jobs/_verbatim_input.sql
\ir ../functions/jobs/_write_phases.sql
\ir ../functions/jobs/_write_summary.sql
\ir ../functions/jobs/claim_jobs.sql
\ir ../functions/jobs/extend_lease.sql
\ir ../functions/jobs/fail_job.sql
\ir ../functions/jobs/finish_job.sql
\ir ../functions/jobs/job_input.sql
\ir ../functions/jobs/release_expired_leases.sql
\ir ../functions/jobs/retry_dead_jobs.sql

-- functions/observability
\ir ../functions/observability/health.sql
\ir ../functions/observability/version.sql

-- What the functions and tables need of each other
\ir triggers.sql
\ir settings.sql
\ir data.sql
\ir partitions.sql

-- Rights
\ir policies.sql
\ir privileges.sql
\ir version.sql
commit;
