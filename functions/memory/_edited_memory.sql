-- Build the row that a person's edit makes of a memory.
-- The edit counts as the user's own word: validated and durable, as recall.remember writes it. An
-- expiry stays, unless it came from session tier or from decay.
create or replace function recall._edited_memory(
    p_memory   recall.memory_store,
    p_edit     jsonb,
    p_settings recall.settings
)
returns recall.memory_store
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_memory recall.memory_store;
begin
    v_memory := (recall._candidate_rows(
        p_memory.user_id, null,
        jsonb_build_array(
            jsonb_build_object(
                'kind', p_memory.kind, 'slot', p_memory.slot, 'tags', p_memory.tags,
                'importance', p_memory.importance, 'confidence', 1.0,
                'provenance', least(p_memory.provenance, 'correction'), 'source', 'manual',
                'valid_to', p_memory.valid_to, 'agent_id', p_memory.agent_id,
                'expires_at', case when p_memory.tier > 'session' and not p_memory.is_decaying
                                   then p_memory.expires_at end,
                'source_turn_ids', p_memory.source_turn_ids,
                'metadata', p_memory.metadata - 'verbatim')
            || p_edit),
        recall._uuids(1), clock_timestamp(), p_settings))[1];

    v_memory.source_session_id := p_memory.source_session_id;
    if p_edit ? 'review_at' then
        v_memory.review_at := (p_edit ->> 'review_at')::timestamptz;
    end if;
    return v_memory;
end;
$function$;

comment on function recall._edited_memory(recall.memory_store, jsonb, recall.settings) is
    'The row of a memory with a person''s changes.';
