-- Drop functions that only older schemas have. No trigger and no other function uses them by now.
drop function if exists recall._achieve_goal(recall.memory_store, recall.settings, jsonb, uuid);
drop function if exists recall._add_spending(recall.job_phases[]);
drop function if exists recall._after_limit(timestamptz);
drop function if exists recall._answer_span(jsonb, jsonb, text);
drop function if exists recall._apply_result(recall.jobs, jsonb);
drop function if exists recall._candidate_problem(jsonb, integer, text[], text[], integer);
drop function if exists recall._chain_events(bytea, recall.memory_events[]);
drop function if exists recall._chat_request(jsonb, jsonb, text);
drop function if exists recall._embed_if_wanted(recall.jobs, uuid, halfvec, recall.settings);
drop function if exists recall._find_memories(uuid, text[], halfvec, uuid[], integer, real, real,
    double precision, uuid[], recall.score_weights, double precision, recall.settings);
drop function if exists recall._find_session(uuid, uuid);
drop function if exists recall._followed_event(uuid, recall.memory_events);
drop function if exists recall._hold_unlogged_tables(boolean);
drop function if exists recall._hold_user(uuid);
drop function if exists recall._is_plain_list(jsonb);
drop function if exists recall._is_plain_memory(text, text, text, text[], real, text, integer,
    jsonb, integer);
drop function if exists recall._keep_call(uuid, uuid);
drop function if exists recall._keep_installation();
drop function if exists recall._keep_session(uuid, uuid);
drop function if exists recall._keep_user(uuid);
drop function if exists recall._limit_text(text, bigint, bigint, timestamptz);
drop function if exists recall._lock_user(uuid);
drop function if exists recall._memory_hashes(uuid, uuid[]);
drop function if exists recall._move_head(uuid, recall.memory_events[], integer, boolean, boolean,
    boolean);
drop function if exists recall._neighbors_json(recall.memory_store, halfvec, recall.settings);
drop function if exists recall._note_due_memory();
drop function if exists recall._note_user();
drop function if exists recall._parse_messages(jsonb, integer);
drop function if exists recall._persist_phase(recall.jobs, jsonb, boolean, timestamptz);
drop function if exists recall._phase_cost(text, integer, integer, bigint);
drop function if exists recall._plain_messages(uuid, uuid, jsonb, uuid, uuid[]);
drop function if exists recall._put_off_costly(recall.jobs, timestamptz);
drop function if exists recall._put_off_extraction(recall.jobs, timestamptz);
drop function if exists recall._quote_line(timestamptz, text, text, text, text, recall.settings);
drop function if exists recall._reached_limit(uuid, timestamptz);
drop function if exists recall._read_leased_job(uuid, uuid, uuid);
drop function if exists recall._result_items(jsonb);
drop function if exists recall._run_step(recall.jobs, jsonb);
drop function if exists recall._shared_tags(uuid, uuid[]);
drop function if exists recall._similar_words(uuid, text[], bigint[], double precision, boolean,
    recall.settings);
drop function if exists recall._split_memories(recall.sessions, text, halfvec, jsonb, timestamptz,
    tstzrange, recall.settings);
drop function if exists recall._take_session(uuid, uuid);
drop function if exists recall._try_lock_user(uuid);
drop function if exists recall._unknown_memory(uuid);
drop function if exists recall._without_nulls(jsonb);
drop function if exists recall._write_phases(recall.job_phases[], boolean);
