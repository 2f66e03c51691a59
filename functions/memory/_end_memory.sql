-- End one memory; see recall._end_memories.
create or replace function recall._end_memory(
    p_memory    recall.memory_store,
    p_reason    text,
    p_now       timestamptz,
    p_successor uuid        default null,
    p_closes_at timestamptz default null,
    p_detail    jsonb       default '{}',
    p_job_id    uuid        default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._end_memories(p_memory.user_id, array[p_memory.memory_id], p_reason, p_now,
                                 p_successor, p_closes_at, p_detail, p_job_id);
end;
$function$;

comment on function recall._end_memory(recall.memory_store, text, timestamptz, uuid, timestamptz,
    jsonb, uuid) is 'End an active memory: row, vectors, count and audit.';
