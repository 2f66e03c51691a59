-- Grant all privileges in one place.
-- Applications get functions, never tables; only PREFIX_reader may read tables, under row-level
-- security. Missing roles are skipped.
--   PREFIX_reader  reads: search, contexts, lists
--   PREFIX_writer  and writes turns and memories
--   PREFIX_worker  and takes jobs and runs sweeps
--   PREFIX_admin   and configures
do $privileges$
declare
    v_function record;
    v_table    record;
    v_tables   text;
    v_role     text;
    v_roles    text[];
    v_prefix   constant text   := (select s.role_prefix from recall.settings as s);
    v_reader   constant text[] := array[
        'user_id', 'uuidv7', 'version', 'health', 'get_settings', 'list_models', 'list_prompts',
        'message_hash', 'new_messages_since',
        'get_session', 'list_sessions', 'get_messages', 'get_messages_by_id', 'search_messages',
        'search_sessions', 'list_memories', 'list_memory_events', 'list_job_phases',
        'list_spending', 'list_summaries',
        'neighbors', 'memories_to_review', 'list_disputes', 'get_memory', 'get_memories',
        'get_profile', 'memory_chain', 'memory_history', 'get_working',
        'get_items', 'search_items', 'list_namespaces',
        'search', 'query_dates', 'compile_context', 'explain_context', 'export_user',
        'export_user_pieces', 'export_head', 'verify_integrity', 'get_user_keys',
        'list_model_calls', 'list_stream_events', 'list_protocol_events', 'get_ledger_rules'];
    v_writer   constant text[] := array[
        'ensure_user', 'open_session', 'update_session', 'pause_session', 'resume_session',
        'close_session', 'clear_session', 'append_messages', 'retract_turns', 'pop_turns',
        'annotate_message',
        'remember', 'ingest_memories', 'supersede_memory', 'retract_memory', 'restore_memory',
        'dispute_memory', 'validate_memory', 'achieve_goal', 'reinforce_memory', 'resolve_dispute',
        'record_access', 'put_working', 'clear_working', 'put_items', 'touch_items',
        'forget_memory', 'forget_session',
        'record_model_call', 'record_stream_events', 'record_protocol_event', 'revoke_source',
        'seal_user'];
    v_worker   constant text[] := array[
        'enqueue_job', 'claim_jobs', 'next_request', 'extend_lease',
        'fail_job', 'apply_decisions', 'add_embedding', 'ensure_partitions',
        'flush_access_log', 'enqueue_merges', 'enqueue_patterns', 'release_expired_leases',
        'expire_working', 'expire_items', 'promote_memories', 'expire_memories', 'decay_memories',
        'expire_sessions', 'enqueue_compactions', 'enqueue_missing_embeddings', 'purge_expired',
        'drop_expired_partitions', 'sample_recall', 'run_backfills',
        'migrate_embeddings', 'get_embedding_migration',
        'run_maintenance', 'run_due_maintenance', 'maintain', 'list_maintenance', 'waiting_jobs',
        'get_job', 'list_jobs', 'list_total_spending', 'metrics'];
    v_admin    constant text[] := array[
        'estimate_embedding_migration', 'start_embedding_migration', 'pause_embedding_migration',
        'resume_embedding_migration', 'cancel_embedding_migration', 'switch_embedding_model',
        'configure', 'configure_user', 'calibrate_embeddings', 'register_model', 'register_kind',
        'set_prompt',
        'reset_prompt', 'retry_dead_jobs',
        'configure_maintenance', 'maintenance_commands',
        'schedule_maintenance', 'unschedule_maintenance', 'set_scheduler', 'distribute',
        'list_users', 'forget_user', 'list_erasures', 'replay_erasures', 'import_user',
        'rewrap_user_key', 'add_user_key', 'list_sealed_rows', 'list_sealed_users', 'reseal_rows'];
begin
    select coalesce(array_agg(r.rolname), '{}')
      into v_roles
      from pg_catalog.pg_roles as r
     where r.rolname in (v_prefix || '_reader', v_prefix || '_writer', v_prefix || '_worker',
                         v_prefix || '_admin');

    revoke all on schema recall from public;
    select string_agg(c.oid::regclass::text, ', ')
      into v_tables
      from pg_catalog.pg_class as c
     where c.relnamespace = 'recall'::regnamespace
       and c.relkind in ('r', 'p')
       and pg_get_userbyid(c.relowner) = current_user;
    execute format('revoke all on table %s from public', v_tables);
    foreach v_role in array v_roles loop
        execute format('grant usage on schema recall to %I', v_role);
    end loop;

    for v_function in
        select p.oid::regprocedure as signature, p.proname
          from pg_catalog.pg_proc as p
         where p.pronamespace = 'recall'::regnamespace
           and not current_setting('recall.foreign_functions')::jsonb ? p.oid::text
         order by p.proname
    loop
        execute format('revoke all on routine %s from public', v_function.signature);

        if v_function.proname !~ '^_'
           and v_function.proname <> all (v_reader || v_writer || v_worker || v_admin) then
            raise exception using
                errcode = 'RC007',
                message = format('function %s has no line in privileges.sql', v_function.signature),
                hint    = 'Name it among the functions of the least role that needs it.';
        end if;

        foreach v_role in array v_roles loop
            execute format('revoke all on routine %s from %I', v_function.signature, v_role);
            if v_function.proname = any (case v_role
                when v_prefix || '_reader' then v_reader
                when v_prefix || '_writer' then v_reader || v_writer
                when v_prefix || '_worker' then v_reader || v_writer || v_worker
                else v_reader || v_writer || v_worker || v_admin
            end) then
                execute format('grant execute on routine %s to %I', v_function.signature, v_role);
            end if;
        end loop;
    end loop;

    -- An upgrade creates most functions anew, which loses the grants of others to their own roles.
    for v_function in
        select p.oid::regprocedure as signature, g.item ->> 1 as grantee,
               (g.item ->> 2)::boolean as is_grantable
          from jsonb_array_elements(current_setting('recall.foreign_grants')::jsonb) as g (item)
          join pg_catalog.pg_proc as p on p.proname = g.item ->> 0
         where p.pronamespace = 'recall'::regnamespace
           and not current_setting('recall.foreign_functions')::jsonb ? p.oid::text
    loop
        execute format('grant execute on routine %s to %s', v_function.signature,
                       v_function.grantee)
                || case when v_function.is_grantable then ' with grant option' else '' end;
    end loop;

    -- Parents only: partitions have no policy, so reading one directly returns nothing.
    if v_prefix || '_reader' = any (v_roles) then
        execute format('revoke all on table %s from %I', v_tables, v_prefix || '_reader');
        for v_table in
            select c.oid::regclass as name
              from pg_catalog.pg_class as c
             where c.relnamespace = 'recall'::regnamespace
               and c.relkind in ('r', 'p')
               and not c.relispartition
               and pg_get_userbyid(c.relowner) = current_user
        loop
            execute format('grant select on table %s to %I', v_table.name,
                           v_prefix || '_reader');
        end loop;
    end if;
end;
$privileges$;
