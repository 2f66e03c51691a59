-- Count the repetition of an active memory, in equal or nearly equal words.
-- The audit keeps a text that is not stored for this reason.
create or replace function recall._repeat_memory(
    p_kept     recall.memory_store,
    p_other    recall.memory_store,
    p_settings recall.settings,
    p_job_id   uuid default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._update_memory(recall._combine_memories(
        p_kept, p_other, p_kept.content_hash = p_other.content_hash, p_other.created_at,
        p_settings));
    perform recall._log_event(
        p_kept.user_id, p_kept.memory_id, 'duplicate',
        jsonb_build_object(
            'provenance', p_other.provenance,
            'session_id', p_other.source_session_id,
            'content', nullif(p_other.content, p_kept.content)),
        p_job_id);
end;
$function$;

comment on function recall._repeat_memory(recall.memory_store, recall.memory_store, recall.settings,
    uuid) is
    'Count the repetition of a memory, and combine the values of both.';
