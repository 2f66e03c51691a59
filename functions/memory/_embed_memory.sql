-- Store the late vector of an active memory and check it for near duplicates.
-- Outcome: added, duplicate (this memory ends in favor of the other) or merged (the other one ends
-- in favor of this). The caller has locked the user.
create or replace function recall._embed_memory(
    p_user_id   uuid,
    p_memory_id uuid,
    p_embedding recall.memory_embedding.embedding%type,
    p_model     text,
    p_settings  recall.settings,
    p_job_id    uuid default null
)
returns text
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now     timestamptz         := clock_timestamp();
    v_memory  recall.memory_store := recall._read_memory(p_user_id, p_memory_id);
    v_near    recall.memory_store;
    v_outcome text;
begin
    insert into recall.memory_embedding as e (user_id, memory_id, embedding_model, embedding)
    values (p_user_id, p_memory_id, p_model, p_embedding)
    on conflict (user_id, memory_id, embedding_model) do update
       set embedding = excluded.embedding;

    if v_memory.kind = 'episode' then
        perform recall._count_memories(p_user_id, 0, p_pattern_due => true);
    end if;

    v_near    := recall._find_near_duplicate(v_memory, p_embedding, p_model,
                                             p_settings.near_duplicate_distance);
    v_outcome := coalesce(recall._near_duplicate_guard(v_near.content, v_memory.content), 'added');

    if v_outcome = 'duplicate' then
        perform recall._end_memory(v_memory, 'merged', v_now, v_near.memory_id, null,
                                   '{}', p_job_id);
        v_memory.created_at := v_now;
        perform recall._repeat_memory(v_near, v_memory, p_settings, p_job_id);
    elsif v_outcome = 'merged' then
        perform recall._end_memory(v_near, 'merged', v_now, p_memory_id, null, '{}',
                                   p_job_id);
        perform recall._update_memory(recall._combine_memories(v_memory, v_near, false,
                                                               v_now, p_settings));
    end if;

    perform recall._log_event(p_user_id, p_memory_id, 'embedded',
                              jsonb_build_object('model', p_model, 'outcome', v_outcome),
                              p_job_id);
    return v_outcome;
end;
$function$;

comment on function recall._embed_memory(uuid, uuid, recall.memory_embedding.embedding%type, text,
    recall.settings, uuid) is
    'Store the late vector of an active memory and look for near duplicates.';
