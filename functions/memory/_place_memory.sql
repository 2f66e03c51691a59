-- Write one memory among the active ones, and return its id and outcome.
-- An equal text is a repetition, and a near duplicate is merged. The target of a decision and the
-- row in the same slot are superseded, unless the user stated them and the new text is untrusted.
-- An edit writes a new row even if its text stays. The caller has locked the user.
create or replace function recall._place_memory(
    p_memory    recall.memory_store,
    p_embedding recall.memory_embedding.embedding%type,
    p_model     text,
    p_settings  recall.settings,
    p_target    recall.memory_store default null,
    p_job_id    uuid                default null,
    p_is_edit   boolean             default false
)
returns recall.placed_memory
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
declare
    v_memory  recall.memory_store   := p_memory;
    v_same    recall.memory_store;
    v_near    recall.memory_store;
    v_verdict text;
    v_ends    recall.memory_store[] := '{}'::recall.memory_store[];
    v_end     recall.memory_store;
    v_placed  recall.placed_memory;
begin
    select m.*
      into v_same
      from recall.memory_store as m
     where m.user_id      = p_memory.user_id
       and m.content_hash = p_memory.content_hash
       and m.is_active
       and not (p_is_edit and m.memory_id = p_target.memory_id);

    if p_target.memory_id is not null then
        v_memory.slot := coalesce(p_memory.slot, p_target.slot);
        if p_target.memory_id is distinct from v_same.memory_id then
            v_ends := array[p_target];
        end if;
    elsif v_same.memory_id is null and p_embedding is not null then
        v_near    := recall._find_near_duplicate(p_memory, p_embedding, p_model,
                                                 p_settings.near_duplicate_distance);
        v_verdict := recall._near_duplicate_guard(v_near.content, p_memory.content);
        if v_verdict = 'duplicate' then
            perform recall._repeat_memory(v_near, p_memory, p_settings, p_job_id);
            v_placed.memory_id := v_near.memory_id;
            v_placed.outcome   := 'duplicate';
            return v_placed;
        elsif v_verdict = 'merged' then
            v_ends   := array[v_near];
            v_memory := recall._combine_memories(p_memory, v_near, false, p_memory.created_at,
                                                 p_settings);
        end if;
    end if;

    v_memory.slot := coalesce(v_same.slot, v_memory.slot);
    if v_memory.slot is distinct from v_same.slot then
        v_ends := v_ends || array(
            select row(m.*)::recall.memory_store
              from recall.memory_store as m
             where m.user_id = p_memory.user_id
               and m.slot    = v_memory.slot
               and m.is_active
               and m.memory_id is distinct from v_ends[1].memory_id);
        -- A doubtful value (confidence below 0.5) is added beside a confident one in the slot.
        if p_target.memory_id is null and v_verdict is null
           and v_memory.tier = 'session'
           and v_memory.provenance < 'tool_output' and v_memory.confidence < 0.5
           and v_ends <> '{}' and v_ends[1].confidence >= 0.5 then
            v_memory.slot := v_same.slot;
            v_ends        := '{}';
        end if;
    end if;

    foreach v_end in array v_ends loop
        if recall._is_protected(v_end, p_memory.provenance, p_settings) then
            v_placed.memory_id := recall._store_dispute(v_memory, v_end, p_embedding, p_model,
                                                        p_job_id);
            v_placed.outcome   := 'disputed';
            return v_placed;
        end if;
    end loop;

    v_placed.memory_id := coalesce(v_same.memory_id, p_memory.memory_id);
    v_placed.outcome   := case
        when v_verdict = 'merged' then 'merged'
        when v_ends <> '{}' then 'superseded'
        when v_same.memory_id is not null then 'duplicate'
        else 'added'
    end;
    perform recall._replace_memories(v_ends, v_memory, v_same, v_placed.outcome, p_embedding,
                                     p_model, p_settings, p_job_id);
    return v_placed;
end;
$function$;

comment on function recall._place_memory(recall.memory_store,
    recall.memory_embedding.embedding%type, text, recall.settings, recall.memory_store, uuid,
    boolean) is
    'Write one memory. Outcome: added, duplicate, merged, superseded or disputed.';
