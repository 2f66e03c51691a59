-- End the memories that a new one replaces, then write it.
-- It goes into the active row with the same text if there is one, else into a row of its own. A
-- changed fact is valid from when it was stated, and the replaced one until then. The new row
-- inherits tier, scope and expiry from the replaced ones, unless a tool or an inference brought it.
create or replace function recall._replace_memories(
    p_ends      recall.memory_store[],
    p_memory    recall.memory_store,
    p_same      recall.memory_store,
    p_outcome   text,
    p_embedding recall.memory_embedding.embedding%type,
    p_model     text,
    p_settings  recall.settings,
    p_job_id    uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_memory     recall.memory_store := p_memory;
    v_changed_at timestamptz         := coalesce(p_memory.valid_from, p_memory.observed_at);
    v_end        recall.memory_store;
    v_replaced   uuid[]              := '{}'::uuid[];
begin
    foreach v_end in array p_ends loop
        v_replaced := v_replaced || v_end.memory_id;
        if p_memory.provenance < 'tool_output' then
            v_memory := recall._inherit_standing(v_memory, v_end);
        end if;
    end loop;
    perform recall._end_memories(
        p_memory.user_id, v_replaced, p_outcome, p_memory.created_at,
        coalesce(p_same.memory_id, p_memory.memory_id),
        case when p_outcome = 'superseded' then v_changed_at end, '{}', p_job_id);

    if p_same.memory_id is null then
        if p_outcome = 'superseded' then
            v_memory.valid_from := least(v_changed_at, p_memory.valid_to);
        end if;
        perform recall._insert_memories(
            array[v_memory], case when p_embedding is not null then array[p_embedding] end,
            array[p_model], 'added',
            case when v_replaced <> '{}' then jsonb_build_object('replaces', v_replaced) end,
            p_job_id, p_settings);
        return;
    end if;

    perform recall._repeat_memory(p_same, v_memory, p_settings, p_job_id);
    if p_embedding is not null and not exists (
        select from recall.memory_embedding as e
         where e.user_id         = p_same.user_id
           and e.memory_id       = p_same.memory_id
           and e.embedding_model = p_model
    ) then
        perform recall._embed_memory(p_same.user_id, p_same.memory_id, p_embedding, p_model,
                                     p_settings, p_job_id);
    end if;
end;
$function$;

comment on function recall._replace_memories(recall.memory_store[], recall.memory_store,
    recall.memory_store, text, recall.memory_embedding.embedding%type, text, recall.settings,
    uuid) is
    'End what a memory replaces and write it, into the row with the same text if there is one.';
