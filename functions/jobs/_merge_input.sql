-- Return the memories of a merge job (consolidation), which share a tag and kind, oldest first.
-- Memories that have ended since the job was enqueued are left out. The list is empty when fewer
-- than two remain.
create or replace function recall._merge_input(
    p_user_id uuid,
    p_payload jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_memories recall.memory_store[] := recall._mergeable_memories(
        p_user_id, p_payload ->> 'kind', recall._payload_memories(p_payload), now());
begin
    return jsonb_build_object(
        'tag', p_payload -> 'tag',
        'memory_kind', p_payload -> 'kind',
        'model', (recall._settings(p_user_id)).embedding_model,
        'memories', (
            select coalesce(jsonb_agg(jsonb_build_object(
                       'memory_id', m.memory_id, 'content', m.content,
                       'observed_at', to_char(m.observed_at at time zone 'UTC', 'YYYY-MM-DD'))
                       order by m.observed_at, m.memory_id), '[]')
              from unnest(v_memories) as m
             where cardinality(v_memories) >= 2));
end;
$function$;

comment on function recall._merge_input(uuid, jsonb) is
    'Input of a merge job (consolidation): tag, memory_kind, model, memories (memory_id, '
    'content, observed_at).';
