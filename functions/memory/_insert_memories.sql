-- Insert active rows of one user with their vectors, the user's count and one audit row each.
-- The caller has locked the user and has checked that texts and slots are free. Without p_settings
-- a trigger reads the settings for each row.
create or replace function recall._insert_memories(
    p_memories   recall.memory_store[],
    p_embeddings recall.jobs.vectors%type default null,
    p_models     text[]          default null,
    p_event      text            default 'added',
    p_detail     jsonb           default '{}',
    p_job_id     uuid            default null,
    p_settings   recall.settings default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_user_id    uuid    := p_memories[1].user_id;
    v_memory     recall.memory_store;
    v_ids        uuid[]  := '{}'::uuid[];
    v_hashes     bytea[] := '{}'::bytea[];
    v_tagged     boolean := false;
    v_episode    boolean := false;
    v_unembedded boolean;
    v_was_noted  boolean;
begin
    foreach v_memory in array p_memories loop
        v_ids     := v_ids || v_memory.memory_id;
        v_hashes  := v_hashes || recall._memory_hash(v_memory);
        v_tagged  := v_tagged or v_memory.tags <> '{}';
        v_episode := v_episode or v_memory.kind = 'episode';
    end loop;

    -- Mark only the first memory without a vector since the last enqueue_missing_embeddings, which
    -- finds the user by the index of marked rows.
    v_unembedded := p_embeddings is null or array_position(p_embeddings, null) is not null;
    v_was_noted  := recall._log_events(
        v_user_id, v_ids, p_event, array[p_detail], p_job_id, v_hashes, cardinality(v_ids),
        v_tagged, v_episode, v_unembedded);

    insert into recall.memory_store (
        user_id, memory_id, session_id, agent_id, tier, scope, kind, slot, content, content_hash,
        token_count, search_vector, provenance, source, source_session_id, provenance_turn_id,
        source_turn_ids, confidence, importance, relevance_accumulator, access_count,
        last_accessed_at, observed_at, valid_from, valid_to, review_at, created_at, updated_at,
        expires_at, ended_at, end_reason, is_validated, superseded_by, disputes, tags, metadata,
        follows_session, check_at, embedding_due)
    select m.user_id, m.memory_id, m.session_id, m.agent_id, m.tier, m.scope, m.kind, m.slot,
           m.content, m.content_hash, m.token_count, m.search_vector, m.provenance, m.source,
           m.source_session_id, m.provenance_turn_id, m.source_turn_ids, m.confidence,
           m.importance, m.relevance_accumulator, m.access_count, m.last_accessed_at,
           m.observed_at, m.valid_from, m.valid_to, m.review_at, m.created_at, m.updated_at,
           m.expires_at, m.ended_at, m.end_reason, m.is_validated, m.superseded_by, m.disputes,
           m.tags, m.metadata, m.follows_session,
           case when p_settings.singleton
                then recall._next_check(m, '-infinity', p_settings) end,
           v_unembedded and not v_was_noted and m.memory_id = v_ids[1]
      from unnest(p_memories) as m;

    if p_embeddings is not null then
        insert into recall.memory_embedding (user_id, memory_id, embedding_model, embedding)
        select v_user_id, e.memory_id, e.model, e.embedding
          from unnest(v_ids, p_embeddings, p_models) as e (memory_id, embedding, model)
         where e.embedding is not null;
    end if;
end;
$function$;

comment on function recall._insert_memories(recall.memory_store[], recall.jobs.vectors%type, text[],
    text, jsonb, uuid, recall.settings) is
    'Insert active memories of one user with vectors, count and audit.';
