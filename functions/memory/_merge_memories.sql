-- Merge some memories into one text and return the outcome.
-- merged: they ended in favor of a new memory, or of an active one with the same text. moved: one
-- of them ended or changed meanwhile, and nothing is written. The job has judged that the text is
-- faithful. The caller has locked the user.
-- Locks   the memories.
create or replace function recall._merge_memories(
    p_user_id    uuid,
    p_kind       text,
    p_memory_ids uuid[],
    p_content    text,
    p_embedding  recall.memory_embedding.embedding%type,
    p_settings   recall.settings,
    p_job_id     uuid
)
returns text
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now    timestamptz           := clock_timestamp();
    v_parts  recall.memory_store[] := recall._mergeable_memories(p_user_id, p_kind, p_memory_ids,
                                                                 v_now);
    v_memory recall.memory_store;
    v_same   recall.memory_store;
begin
    if cardinality(v_parts) < cardinality(p_memory_ids) then
        return 'moved';
    end if;

    v_memory := recall._merged_memory(v_parts, p_content, v_now, p_settings);
    select m.*
      into v_same
      from recall.memory_store as m
     where m.user_id      = p_user_id
       and m.content_hash = v_memory.content_hash
       and m.is_active
       and m.memory_id <> all (p_memory_ids);
    perform recall._replace_memories(
        v_parts, v_memory, v_same, 'merged', p_embedding, p_settings.embedding_model, p_settings,
        p_job_id);
    return 'merged';
end;
$function$;

comment on function recall._merge_memories(uuid, text, uuid[], text,
    recall.memory_embedding.embedding%type, recall.settings, uuid) is
    'Merge some memories into one text. Outcome: merged or moved.';
