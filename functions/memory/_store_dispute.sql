-- Store a text that contradicts what the user stated, without making it active.
-- The row ends when it is created, and recall.resolve_dispute lets a person decide. An equal
-- dispute is stored once.
create or replace function recall._store_dispute(
    p_memory    recall.memory_store,
    p_protected recall.memory_store,
    p_embedding recall.memory_embedding.embedding%type,
    p_model     text,
    p_job_id    uuid  default null,
    p_detail    jsonb default '{}'
)
returns uuid
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now timestamptz := p_memory.created_at;
    v_id  uuid;
begin
    select m.memory_id
      into v_id
      from recall.memory_store as m
     where m.user_id      = p_memory.user_id
       and m.disputes     = p_protected.memory_id
       and m.content_hash = p_memory.content_hash;
    if found then
        return v_id;
    end if;

    insert into recall.memory_store (
        user_id, memory_id, session_id, agent_id, tier, scope, kind, slot, content, content_hash,
        token_count, search_vector, provenance, source, source_session_id, provenance_turn_id,
        source_turn_ids, confidence, importance, observed_at, valid_from, valid_to, created_at,
        updated_at, expires_at, ended_at, end_reason, disputes, tags, metadata)
    values (
        p_memory.user_id, p_memory.memory_id, p_memory.session_id, p_memory.agent_id,
        p_memory.tier, p_memory.scope, p_memory.kind, p_memory.slot, p_memory.content,
        p_memory.content_hash, p_memory.token_count, p_memory.search_vector,
        p_memory.provenance, p_memory.source, p_memory.source_session_id,
        p_memory.provenance_turn_id, p_memory.source_turn_ids, p_memory.confidence,
        p_memory.importance, p_memory.observed_at, p_memory.valid_from, p_memory.valid_to, v_now,
        v_now, p_memory.expires_at, v_now, 'disputed', p_protected.memory_id, p_memory.tags,
        p_memory.metadata);

    if p_embedding is not null then
        insert into recall.memory_embedding_ended (user_id, memory_id, embedding_model, embedding,
                                                   ended_at)
        values (p_memory.user_id, p_memory.memory_id, p_model, p_embedding, v_now);
    end if;

    perform recall._log_event(p_memory.user_id, p_memory.memory_id, 'disputed',
                              p_detail || jsonb_build_object('disputes', p_protected.memory_id),
                              p_job_id);
    perform recall._log_event(p_memory.user_id, p_protected.memory_id, 'disputed',
                              jsonb_build_object('by', p_memory.memory_id), p_job_id);
    return p_memory.memory_id;
end;
$function$;

comment on function recall._store_dispute(recall.memory_store, recall.memory_store,
    recall.memory_embedding.embedding%type, text, uuid, jsonb) is
    'Store a contradiction of what the user stated, without making it active.';
