-- History and audit are append-only, also for the owner.
create or replace trigger conversation_history_no_update
    before update on recall.conversation_history
    for each row execute function recall._refuse_update();
comment on trigger conversation_history_no_update on recall.conversation_history is
    'History is append-only.';

create or replace trigger memory_events_no_update
    before update on recall.memory_events
    for each row execute function recall._refuse_update();
comment on trigger memory_events_no_update on recall.memory_events is 'The audit is append-only.';

-- Set the columns by which sweeps find a memory, so that writers need not. An access that crosses
-- no threshold changes neither column, so its update stays HOT.
create or replace trigger memory_store_note_due_insert
    before insert on recall.memory_store
    for each row
    when (new.ended_at is null
          and (new.access_count > 0
               or new.check_at is null
                  and (new.expires_at is not null or new.importance < 0.5)))
    execute function recall._set_due_columns();
comment on trigger memory_store_note_due_insert on recall.memory_store is
    'Sets promotion_due and check_at of a new memory.';

create or replace trigger memory_store_note_due_update
    before update on recall.memory_store
    for each row
    when (old.ended_at is null
          and (new.ended_at is not null
               or new.tier <= 'episodic'
               and (new.access_count, new.relevance_accumulator, new.provenance)
                   is distinct from (old.access_count, old.relevance_accumulator, old.provenance)
               or (new.tier, new.importance, new.created_at, new.expires_at, new.follows_session)
                  is distinct from
                  (old.tier, old.importance, old.created_at, old.expires_at, old.follows_session)
               or new.last_accessed_at < old.last_accessed_at
               or new.is_decaying and new.last_accessed_at is distinct from old.last_accessed_at))
    execute function recall._set_due_columns();
comment on trigger memory_store_note_due_update on recall.memory_store is
    'Sets promotion_due and check_at of a memory that changes, and removes an expiry set by decay.';

create or replace trigger users_note_user
    after insert or update of is_sealed, overrides on recall.users
    for each row
    when (new.is_sealed or new.overrides <> '{}')
    execute function recall._set_user_flags();
comment on trigger users_note_user on recall.users is
    'Sets has_sealed_users and has_overrides of settings.';

create or replace trigger users_refuse_vectors
    after update of has_vectors on recall.users
    for each row
    when (new.has_vectors and not old.has_vectors)
    execute function recall._refuse_vectors();
comment on trigger users_refuse_vectors on recall.users is
    'Refuses vectors of a user who was encrypted without them.';

-- A constraint trigger cannot be replaced.
drop trigger if exists imports_are_finished on recall.imports;
create constraint trigger imports_are_finished
    after insert on recall.imports
    deferrable initially deferred
    for each row execute function recall._refuse_unfinished_import();
comment on trigger imports_are_finished on recall.imports is
    'Refuses the commit of an import whose last piece is missing.';

create or replace trigger settings_keep_installation
    before update on recall.settings
    for each row execute function recall._preserve_installation();
comment on trigger settings_keep_installation on recall.settings is
    'Preserves the values that the installer chose here; fires for logical replication only.';
alter table recall.settings enable replica trigger settings_keep_installation;

-- Reject plaintext of an encrypted user from any client. The arguments are the JSON paths to a
-- row's texts; the path $ rejects every row. Vectors reveal texts, so they are accepted only for a
-- user who was encrypted with vectors.
-- Ids, times, numbers, kinds, models, roles, tool names and metadata keys stay readable.
-- AFTER UPDATE, because a BEFORE trigger on any column makes every update lock the row once more
-- (54 bytes of WAL).
do $triggers$
declare
    v_values constant text := ' ? (@.type() == "object").keyvalue() '
                              '? (@.key != "extraction" && @.key != "mode" && '
                              '@.key != "kind" && @.key != "response_model").value.**';
    v_table  record;
    v_list   text;
begin
    for v_table in
        select *
          from (values
                ('conversation_history', '', array[
                     '$.content', '$.content_parts[*] ? (@.type() == "object").keyvalue() '
                                  '? (@.key != "type").value.**',
                     '$.name', '$.tool_calls[*].function.arguments',
                     '$.tool_calls[*].custom.input', '$.metadata' || v_values]),
                ('memory_store', 'content, slot, tags, metadata', array[
                     '$.content', '$.slot', '$.tags[*]', '$.metadata' || v_values]),
                ('memory_embedding', null, array['$.embedding']),
                ('memory_embedding_ended', null, array['$.embedding']),
                ('message_search', null, array['$.embedding', '$.search_vector']),
                ('message_words', null, array['$.words']),
                ('model_calls', null, array[
                     '$.request.**', '$.response.**', '$.usage.**', '$.error',
                     '$.endpoint ? (@ like_regex "[?]")', '$.request_body', '$.response_body',
                     '$.request_headers.*', '$.response_headers.*', '$.metadata' || v_values]),
                ('stream_events', null, array['$']),
                ('protocol_events', null, array['$']),
                ('memory_events', null, array['$.detail.reason', '$.detail.content']),
                ('session_summaries', '', array[
                     '$.content', '$.embedding', '$.next_embedding']),
                ('message_annotations', 'patch', array['$.patch' || v_values]),
                ('sessions', 'title, metadata', array['$.title', '$.metadata' || v_values]),
                ('items', 'value', array['$.value.**']),
                ('item_vectors', null, array['$.embedding']),
                ('working_memory', 'task_id, key, value', array[
                     '$.task_id', '$.key', '$.value.**']),
                ('jobs', 'payload', array['$.payload' || v_values]),
                ('users', 'external_id, metadata', array[
                     '$.external_id', '$.metadata' || v_values])
               ) as v (name, columns, paths)
    loop
        select string_agg(format('%L', p.path), ', ')
          into v_list
          from unnest(v_table.paths) as p (path);
        execute format(
            'create or replace trigger %I after insert on recall.%I '
            'referencing new table as new_rows '
            'for each statement execute function recall._refuse_plain_insert(%s)',
            v_table.name || '_sealed_insert', v_table.name, coalesce(v_list, ''));
        execute format('comment on trigger %I on recall.%I is %L',
                       v_table.name || '_sealed_insert', v_table.name,
                       'A sealed user has no readable texts.');
        continue when v_table.columns is null;
        execute format(
            'create or replace trigger %I after update %s on recall.%I '
            'for each row execute function recall._refuse_plain_update(%s)',
            v_table.name || '_sealed_update',
            case when v_table.columns <> '' then 'of ' || v_table.columns end, v_table.name,
            coalesce(v_list, ''));
        execute format('comment on trigger %I on recall.%I is %L',
                       v_table.name || '_sealed_update', v_table.name,
                       'A sealed user has no readable texts.');
    end loop;
end;
$triggers$;
