-- One example for each public function, shown in docs/reference/functions and run by
-- tests/docs/test_docs.py. `:'session_id'` and `:'memory_id'` are a session and a memory of user
-- ada.

-- example: achieve_goal
select memory_id as goal
  from recall.remember(recall.user_id('ada'), 'Wants to run a marathon', p_kind => 'goal') \gset
select recall.achieve_goal(p_user_id => recall.user_id('ada'), p_memory_id => :'goal');

-- example: add_embedding
select recall.add_embedding(
    p_user_id   => recall.user_id('ada'),
    p_memory_id => :'memory_id',
    p_embedding => (select array_agg(1) from generate_series(1, s.embedding_dimensions))::halfvec,
    p_model     => s.embedding_model)
  from recall.settings as s;

-- example: add_user_key
select recall.ensure_user('grace');
select recall.seal_user(recall.user_id('grace'), decode(repeat('01', 60), 'hex'), 'first');
select recall.add_user_key(
    p_user_id      => recall.user_id('grace'),
    p_key_no       => 2,
    p_wrapped_key  => decode(repeat('02', 60), 'hex'),
    p_wrapping_key => 'first');

-- example: annotate_message
select recall.annotate_message(
    p_user_id    => recall.user_id('ada'),
    p_session_id => :'session_id',
    p_turn_index => 1,
    p_patch      => '{"rating": 5}');

-- example: append_messages
select turn_index, inserted
  from recall.append_messages(
           p_user_id    => recall.user_id('ada'),
           p_session_id => :'session_id',
           p_messages   => '[{"role": "user", "content": "How do I indent?"},
                             {"role": "assistant", "content": "With tabs."}]',
           p_usage      => '{"prompt_tokens": 61, "completion_tokens": 5}',
           p_request_id => gen_random_uuid());

-- example: apply_decisions
select ordinal, decision, outcome
  from recall.apply_decisions(
           p_user_id    => recall.user_id('ada'),
           p_session_id => :'session_id',
           p_decisions  => jsonb_build_array(jsonb_build_object(
               'decision', 'UPDATE', 'target_id', :'memory_id',
               'content', 'Prefers four spaces', 'provenance', 'user_stated')));

-- example: calibrate_embeddings
-- not run: needs twenty users with memories
select * from recall.calibrate_embeddings();

-- example: claim_jobs
select job_id, kind, user_id, lease_until
  from recall.claim_jobs(p_worker => 'worker-1', p_limit => 10, p_flush => true);

-- example: clear_session
select recall.clear_session(p_user_id => recall.user_id('ada'), p_session_id => :'session_id');

-- example: clear_working
select recall.clear_working(
    p_user_id    => recall.user_id('ada'),
    p_session_id => :'session_id',
    p_task_id    => 'booking');

-- example: close_session
select recall.close_session(p_user_id => recall.user_id('ada'), p_session_id => :'session_id');

-- example: compile_context
select recall.compile_context(
    p_user_id    => recall.user_id('ada'),
    p_session_id => :'session_id',
    p_query      => 'How do I indent?',
    p_options    => '{"current_message": "How do I indent?"}') -> 'messages';

-- example: configure
select recall.configure('{"extract_after_turns": 5, "secrets": "mask"}');

-- example: configure_maintenance
select recall.configure_maintenance('expire_memories', '{"schedule": "11 */2 * * *"}');

-- example: configure_user
select recall.configure_user(recall.user_id('ada'), '{"time_zone": "Europe/Berlin"}');

-- example: decay_memories
select done, more from recall.decay_memories(p_limit => 1000);

-- example: dispute_memory
select outcome
  from recall.dispute_memory(
           p_user_id         => recall.user_id('ada'),
           p_memory_id       => :'memory_id',
           p_session_id      => :'session_id',
           p_words           => 'I no longer prefer tabs over spaces',
           p_current_message => 'I no longer prefer tabs over spaces.',
           p_reason          => 'the user said so');

-- example: drop_expired_partitions
select done, more from recall.drop_expired_partitions();

-- example: enqueue_compactions
select done, more from recall.enqueue_compactions();

-- example: enqueue_job
select recall.enqueue_job(
    p_user_id    => recall.user_id('ada'),
    p_kind       => 'extract',
    p_session_id => :'session_id');

-- example: enqueue_merges
select done, more from recall.enqueue_merges();

-- example: enqueue_missing_embeddings
select done, more from recall.enqueue_missing_embeddings();

-- example: enqueue_patterns
select done, more from recall.enqueue_patterns();

-- example: ensure_partitions
select done, more from recall.ensure_partitions();

-- example: ensure_user
select recall.ensure_user(p_external_id => 'ada', p_metadata => '{"plan": "free"}');

-- example: expire_memories
select done, more from recall.expire_memories();

-- example: expire_sessions
select done, more from recall.expire_sessions();

-- example: expire_items
select done, more from recall.expire_items();

-- example: expire_working
select done, more from recall.expire_working();

-- example: explain_context
select content, score, match, taken, reason
  from recall.explain_context(
           p_user_id    => recall.user_id('ada'),
           p_session_id => :'session_id',
           p_query      => 'How do I indent?');

-- example: export_head
select recall.export_head(p_user_id => recall.user_id('ada'));

-- example: export_user
select recall.export_user(p_user_id => recall.user_id('ada')) -> 'tables' -> 'sessions';

-- example: export_user_pieces
begin;
create temporary table pieces as
select piece, document
  from recall.export_user_pieces(p_user_id => recall.user_id('ada'), p_piece_bytes => 65536);
select recall.forget_user(p_user_id => recall.user_id('ada'));
select recall.import_user(recall.user_id('ada'), p.document) from pieces as p order by p.piece;
commit;

-- example: extend_lease
select job_id, lease_token from recall.claim_jobs('worker-1', p_flush => true) \gset
select recall.extend_lease(
    p_user_id     => recall.user_id('ada'),
    p_job_id      => :'job_id',
    p_lease_token => :'lease_token',
    p_lease       => '10 minutes');

-- example: fail_job
select job_id, lease_token from recall.claim_jobs('worker-1', p_flush => true) \gset
select recall.fail_job(
    p_user_id     => recall.user_id('ada'),
    p_job_id      => :'job_id',
    p_lease_token => :'lease_token',
    p_error       => 'the endpoint does not answer');

-- example: flush_access_log
select done, more from recall.flush_access_log();

-- example: forget_memory
select recall.forget_memory(p_user_id => recall.user_id('ada'), p_memory_id => :'memory_id');

-- example: forget_session
select recall.forget_session(p_user_id => recall.user_id('ada'), p_session_id => :'session_id');

-- example: forget_user
select recall.forget_user(p_user_id => recall.user_id('ada'));

-- example: get_ledger_rules
select recall.get_ledger_rules(p_user_id => recall.user_id('ada'));

-- example: get_memories
select memory_id, content, kind, tier
  from recall.get_memories(
           p_user_id => recall.user_id('ada'),
           p_filter  => '{"kinds": ["fact", "preference"]}');

-- example: get_memory
select content, tier, is_active, superseded_by
  from recall.get_memory(p_user_id => recall.user_id('ada'), p_memory_id => :'memory_id');

-- example: get_messages
select turn_index, role, content
  from recall.get_messages(
           p_user_id    => recall.user_id('ada'),
           p_session_id => :'session_id',
           p_limit      => 20);

-- example: get_messages_by_id
select array_agg(message_id) as ids
  from recall.get_messages(recall.user_id('ada'), :'session_id') \gset
select session_id, turn_index, role, content
  from recall.get_messages_by_id(p_user_id => recall.user_id('ada'), p_message_ids => :'ids');

-- example: get_profile
select recall.get_profile(p_user_id => recall.user_id('ada'));

-- example: get_items
select recall.put_items(recall.user_id('ada'),
                        '[{"namespace": ["prefs"], "key": "editor", "value": {"name": "vim"}}]');
select key, value
  from recall.get_items(recall.user_id('ada'), p_namespace => '{prefs}', p_keys => '{editor}');

-- example: get_session
select status, turn_count, total_cost_microcents
  from recall.get_session(p_user_id => recall.user_id('ada'), p_session_id => :'session_id');

-- example: get_settings
select recall.get_settings() -> 'extraction';

-- example: get_user_keys
select key_no, wrapping_key, is_retired
  from recall.get_user_keys(p_user_id => recall.user_id('ada'));

-- example: get_working
select recall.put_working(recall.user_id('ada'), :'session_id', 'booking', 'city', '"Lyon"');
select recall.get_working(
    p_user_id    => recall.user_id('ada'),
    p_session_id => :'session_id',
    p_task_id    => 'booking');

-- example: health
select name, status, detail, hint from recall.health() where status <> 'ok';

-- example: import_user
select recall.export_user(recall.user_id('ada')) as document \gset
select recall.forget_user(recall.user_id('ada'));
select recall.import_user(p_user_id => recall.user_id('ada'), p_document => :'document');

-- example: ingest_memories
select ordinal, outcome
  from recall.ingest_memories(
           p_user_id    => recall.user_id('ada'),
           p_session_id => null,
           p_candidates => '[{"content": "Lives in Lyon", "slot": "city", "source": "import"}]');

-- example: list_disputes
select content, disputed_content from recall.list_disputes(p_user_id => recall.user_id('ada'));

-- example: list_erasures
select erasure_id, digest, erased_at from recall.list_erasures();

-- example: get_job
select j.kind, g.state, g.payload, g.last_error
  from recall.list_jobs(p_limit => 1) as j
 cross join lateral recall.get_job(p_user_id => j.user_id, p_job_id => j.job_id) as g;

-- example: list_job_phases
select phase, duration_ms, prompt_tokens, cost_microcents, error
  from recall.list_job_phases(p_user_id => recall.user_id('ada'));

-- example: list_jobs
select job_id, user_id, kind, attempts, last_error from recall.list_jobs(p_state => 'dead');

-- example: list_maintenance
select task, schedule, enabled, last_run_at, failures from recall.list_maintenance();

-- example: list_memories
select memory_id, content, kind, created_at
  from recall.list_memories(p_user_id => recall.user_id('ada'), p_limit => 20);

-- example: list_memory_events
select at, event, memory_id
  from recall.list_memory_events(p_user_id => recall.user_id('ada'), p_limit => 20);

-- example: list_model_calls
select call_id, model, status_code, latency_ms, cost_microcents
  from recall.list_model_calls(p_user_id => recall.user_id('ada'), p_include_bodies => false);

-- example: list_models
select model_id, context_window_size, input_price, output_price from recall.list_models();

-- example: list_namespaces
select recall.put_items(recall.user_id('ada'),
                        '[{"namespace": ["prefs", "work"], "key": "font", "value": "Hack"}]');
select namespace
  from recall.list_namespaces(recall.user_id('ada'), p_prefix => '{prefs}');

-- example: list_prompts
select name, language, version, token_count from recall.list_prompts() where is_current;

-- example: list_protocol_events
select created_at, event_type, method, tool_name
  from recall.list_protocol_events(p_user_id => recall.user_id('ada'));

-- example: list_sealed_rows
select row_table, row_key
  from recall.list_sealed_rows(p_user_id => recall.user_id('ada'), p_key_no => 1);

-- example: list_sealed_users
select user_id from recall.list_sealed_users(p_other_than => 'second');

-- example: list_sessions
select session_id, title, status, turn_count
  from recall.list_sessions(p_user_id => recall.user_id('ada'), p_status => 'active');

-- example: list_stream_events
select recall.record_model_call(recall.user_id('ada'), 'gpt-4o-mini', p_is_stream => true)
    as call_id \gset
select event_index, event_type, text_delta
  from recall.list_stream_events(p_user_id => recall.user_id('ada'), p_call_id => :'call_id');

-- example: list_spending
select day, cost_microcents / 1e8 as dollars
  from recall.list_spending(p_user_id => recall.user_id('ada'), p_days => 7);

-- example: list_summaries
select kind, from_turn, to_turn, summary
  from recall.list_summaries(p_user_id => recall.user_id('ada'), p_session_id => :'session_id');

-- example: list_total_spending
select day, cost_microcents / 1e8 as dollars from recall.list_total_spending(p_days => 7);

-- example: list_users
select user_id, external_id, active_memory_count from recall.list_users(p_limit => 20);

-- example: maintain
-- not run: commits
call recall.maintain('expire_memories');

-- example: maintenance_commands
select job_name, schedule, command from recall.maintenance_commands();

-- example: memories_to_review
select content, review_at from recall.memories_to_review(p_user_id => recall.user_id('ada'));

-- example: memory_chain
select content, created_at, ended_at
  from recall.memory_chain(p_user_id => recall.user_id('ada'), p_memory_id => :'memory_id');

-- example: memory_history
select at, event, detail
  from recall.memory_history(p_user_id => recall.user_id('ada'), p_memory_id => :'memory_id');

-- example: message_hash
select recall.message_hash('{"role": "user", "content": "Hello"}');

-- example: metrics
select name, value, labels from recall.metrics();

-- example: neighbors
select n.content, n.similarity
  from recall.settings as s
 cross join recall.neighbors(
           p_user_id   => recall.user_id('ada'),
           p_embedding => (select array_agg(1)
                             from generate_series(1, s.embedding_dimensions))::halfvec) as n;

-- example: new_messages_since
select ordinal, message, cursor
  from recall.new_messages_since(
           p_cursor   => recall.message_hash('{"role": "user", "content": "Hello"}'),
           p_messages => '[{"role": "user", "content": "Hello"},
                           {"role": "assistant", "content": "Good morning."}]');

-- example: next_request
select job_id, lease_token from recall.claim_jobs('worker-1', p_flush => true) \gset
select recall.next_request(
    p_user_id     => recall.user_id('ada'),
    p_job_id      => :'job_id',
    p_lease_token => :'lease_token',
    p_worker      => '{"chat_model": "gpt-4o-mini"}');

-- example: open_session
select recall.open_session(
    p_user_id       => recall.user_id('ada'),
    p_model_id      => 'gpt-4o-mini',
    p_system_prompt => 'You are a helpful assistant.',
    p_title         => 'Editors');

-- example: pause_session
select recall.pause_session(p_user_id => recall.user_id('ada'), p_session_id => :'session_id');

-- example: pop_turns
select turn_index, role, content
  from recall.pop_turns(p_user_id => recall.user_id('ada'), p_session_id => :'session_id');

-- example: promote_memories
select done, more from recall.promote_memories();

-- example: purge_expired
select done, more from recall.purge_expired();

-- example: put_items
select recall.put_items(
    p_user_id => recall.user_id('ada'),
    p_items   => '[{"namespace": ["prefs"], "key": "font", "value": {"size": 12}, "ttl": 60}]');

-- example: put_working
select recall.put_working(
    p_user_id    => recall.user_id('ada'),
    p_session_id => :'session_id',
    p_task_id    => 'booking',
    p_key        => 'city',
    p_value      => '"Lyon"',
    p_ttl        => '30 minutes');

-- example: query_dates
select since, until, expression
  from recall.query_dates(
           p_query     => 'What did I say last week?',
           p_now       => '2026-06-09',
           p_time_zone => 'Europe/Berlin');

-- example: record_access
select recall.record_access(
    p_user_id    => recall.user_id('ada'),
    p_memory_ids => array[:'memory_id']::uuid[],
    p_relevance  => '{0.8}');

-- example: record_model_call
select recall.record_model_call(
    p_user_id  => recall.user_id('ada'),
    p_model    => 'gpt-4o-mini',
    p_request  => '{"messages": [{"role": "user", "content": "Hello"}]}',
    p_response => '{"choices": []}',
    p_usage    => '{"prompt_tokens": 8, "completion_tokens": 2}');

-- example: record_protocol_event
select recall.record_protocol_event(
    p_user_id    => recall.user_id('ada'),
    p_event_type => 'mcp',
    p_method     => 'tools/call',
    p_tool_name  => 'weather',
    p_payload    => '{"city": "Lyon"}');

-- example: record_stream_events
select recall.record_model_call(recall.user_id('ada'), 'gpt-4o-mini', p_is_stream => true)
    as call_id \gset
select recall.record_stream_events(
    p_user_id => recall.user_id('ada'),
    p_call_id => :'call_id',
    p_events  => '[{"index": 0, "type": "delta", "text_delta": "Hel"},
                   {"index": 1, "type": "delta", "text_delta": "lo"}]');

-- example: register_kind
select recall.register_kind(
    p_kind         => 'allergy',
    p_description  => 'A food or drug that the user cannot take',
    p_review_after => '1 year');

-- example: register_model
select recall.register_model(
    p_model_id            => 'my-model',
    p_context_window_size => 32768,
    p_input_price         => 10000000,
    p_output_price        => 40000000);

-- example: reinforce_memory
select recall.reinforce_memory(
    p_user_id   => recall.user_id('ada'),
    p_memory_id => :'memory_id',
    p_useful    => true);

-- example: release_expired_leases
select done, more from recall.release_expired_leases();

-- example: remember
select memory_id, outcome
  from recall.remember(
           p_user_id => recall.user_id('ada'),
           p_content => 'Prefers trains to planes',
           p_kind    => 'preference',
           p_tags    => '{travel}');

-- example: replay_erasures
select coalesce(json_agg(e), '[]') as erasures from recall.list_erasures() as e \gset
select recall.replay_erasures(p_erasures => :'erasures');

-- example: reseal_rows
select recall.reseal_rows(p_user_id => recall.user_id('ada'), p_rows => '[]');

-- example: reset_prompt
select recall.reset_prompt(p_name => 'summarize');

-- example: resolve_dispute
select memory_id as disputed
  from recall.dispute_memory(
           recall.user_id('ada'), :'memory_id', :'session_id', '', '', 'a page says so') \gset
select recall.resolve_dispute(
    p_user_id   => recall.user_id('ada'),
    p_memory_id => :'disputed',
    p_accept    => false);

-- example: restore_memory
select recall.retract_memory(recall.user_id('ada'), :'memory_id');
select recall.restore_memory(p_user_id => recall.user_id('ada'), p_memory_id => :'memory_id');

-- example: resume_session
select recall.pause_session(recall.user_id('ada'), :'session_id');
select recall.resume_session(p_user_id => recall.user_id('ada'), p_session_id => :'session_id');

-- example: retract_memory
select recall.retract_memory(
    p_user_id   => recall.user_id('ada'),
    p_memory_id => :'memory_id',
    p_reason    => 'the user asked for it');

-- example: retract_turns
select recall.retract_turns(
    p_user_id    => recall.user_id('ada'),
    p_session_id => :'session_id',
    p_from_turn  => 1);

-- example: retry_dead_jobs
select recall.retry_dead_jobs(p_kind => 'extract');

-- example: revoke_source
select recall.revoke_source(
    p_user_id           => recall.user_id('ada'),
    p_source_session_id => :'session_id',
    p_reason            => 'the page carried instructions');

-- example: rewrap_user_key
select recall.ensure_user('grace');
select recall.seal_user(recall.user_id('grace'), decode(repeat('01', 60), 'hex'), 'first');
select recall.rewrap_user_key(
    p_user_id      => recall.user_id('grace'),
    p_key_no       => 1,
    p_previous     => decode(repeat('01', 60), 'hex'),
    p_wrapped_key  => decode(repeat('02', 60), 'hex'),
    p_wrapping_key => 'second');

-- example: run_due_maintenance
select task, result from recall.run_due_maintenance();

-- example: run_maintenance
select recall.run_maintenance(p_task => 'expire_memories');

-- example: schedule_maintenance
-- not run: needs pg_cron
select job_name, schedule, command from recall.schedule_maintenance();

-- example: seal_user
select recall.ensure_user('grace');
select recall.seal_user(
    p_user_id      => recall.user_id('grace'),
    p_wrapped_key  => decode(repeat('01', 60), 'hex'),
    p_wrapping_key => 'first');

-- example: run_backfills
select done, more from recall.run_backfills();

-- example: sample_recall
select done, more from recall.sample_recall(p_limit => 10);

-- example: search
select content, score, match
  from recall.search(
           p_user_id => recall.user_id('ada'),
           p_query   => 'tabs or spaces?',
           p_limit   => 5,
           p_filter  => '{"kinds_none": ["episode"], "min_match": 0.1}');

-- example: search_items
select recall.put_items(recall.user_id('ada'),
                        '[{"namespace": ["books"], "key": "dune", "value": {"year": 1965}}]');
select key, value
  from recall.search_items(
           p_user_id   => recall.user_id('ada'),
           p_namespace => '{books}',
           p_filter    => '{"year": {"$gte": 1960}}');

-- example: search_messages
select session_id, turn_index, role, content, score
  from recall.search_messages(
           p_user_id => recall.user_id('ada'),
           p_query   => 'What did I say about tabs?',
           p_filter  => '{"roles": ["user"]}');

-- example: search_sessions
select session_id, title, summary, score
  from recall.search_sessions(p_user_id => recall.user_id('ada'), p_query => 'indentation');

-- example: set_prompt
select recall.set_prompt(
    p_name    => 'summarize',
    p_content => 'Write the new summary, in short sentences.',
    p_version => 'own-1');

-- example: distribute
-- not run: it needs a Citus cluster
select * from recall.distribute(p_shard_count => 32);

-- example: set_scheduler
select recall.set_scheduler(p_role => null);

-- example: supersede_memory
select recall.supersede_memory(
    p_user_id   => recall.user_id('ada'),
    p_memory_id => :'memory_id',
    p_content   => 'Prefers four spaces',
    p_changes   => '{"importance": 0.8}');

-- example: touch_items
select recall.put_items(recall.user_id('ada'),
                        '[{"namespace": ["cache"], "key": "x", "value": 1, "ttl": 60}]');
select recall.touch_items(recall.user_id('ada'), p_namespace => '{cache}', p_keys => '{x}');

-- example: unschedule_maintenance
-- not run: needs pg_cron
select recall.unschedule_maintenance();

-- example: update_session
select recall.update_session(
    p_user_id    => recall.user_id('ada'),
    p_session_id => :'session_id',
    p_changes    => '{"title": "Editors", "model_id": "gpt-4o"}');

-- example: user_id
select recall.user_id('ada');

-- example: uuidv7
select recall.uuidv7();

-- example: validate_memory
select recall.validate_memory(p_user_id => recall.user_id('ada'), p_memory_id => :'memory_id');

-- example: verify_integrity
select recall.export_head(recall.user_id('ada')) as head \gset
select finding, event_no, memory_id, detail
  from recall.verify_integrity(p_user_id => recall.user_id('ada'), p_head => :'head');

-- example: version
select recall.version();

-- example: waiting_jobs
select kind, needs_model, due, deferred, deferred_until from recall.waiting_jobs();
-- example: cancel_embedding_migration
-- not run: needs a change of the embedding model
select recall.cancel_embedding_migration();

-- example: estimate_embedding_migration
select texts, tokens, cost_microcents
  from recall.estimate_embedding_migration(p_model => 'openai:text-embedding-3-large');

-- example: get_embedding_migration
select to_model, state, share, jobs_dead from recall.get_embedding_migration();

-- example: migrate_embeddings
select done, more from recall.migrate_embeddings();

-- example: pause_embedding_migration
-- not run: needs a change of the embedding model
select recall.pause_embedding_migration();

-- example: resume_embedding_migration
-- not run: needs a change of the embedding model
select recall.resume_embedding_migration();

-- example: start_embedding_migration
-- not run: the examples keep their embedding model
select recall.start_embedding_migration(
    p_model      => 'openai:text-embedding-3-large',
    p_dimensions => 3072);

-- example: switch_embedding_model
-- not run: needs a change of the embedding model
select recall.switch_embedding_model();
