-- Apply one decision of the consolidation.
-- Output of a tool neither deletes nor achieves what the user stated. Untrusted text is left out
-- (outcome over_quota) when its session has used up its budget.
create or replace function recall._apply_decision(
    p_user_id   uuid,
    p_session   recall.sessions,
    p_decision  jsonb,
    p_embedding recall.memory_embedding.embedding%type,
    p_settings  recall.settings,
    p_job_id    uuid
)
returns recall.placed_memory
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- jsonb_strip_nulls would remove the nulls inside metadata, too.
    v_candidate jsonb       := (
        select coalesce(jsonb_object_agg(k.key, k.value), '{}')
          from jsonb_each(p_decision - '{decision,target_id}'::text[]) as k
         where k.value <> 'null');
    v_verb      text        := p_decision ->> 'decision';
    v_now       timestamptz := clock_timestamp();
    v_claimed   recall.provenance;
    v_target    recall.memory_store;
    v_goal      recall.memory_store;
    v_memory    recall.memory_store;
    v_placed    recall.placed_memory;
begin
    if v_verb in ('UPDATE', 'DELETE', 'ACHIEVE') then
        v_target := recall._end_of_chain(p_user_id, (p_decision ->> 'target_id')::uuid);
        if v_target.ended_at is not null then
            v_target := null;
        end if;
    end if;
    -- ACHIEVE adds a memory and marks its target, so the addition has no target of its own.
    if v_verb = 'ACHIEVE' then
        v_goal   := v_target;
        v_target := null;
    end if;

    if v_verb = 'NONE' then
        v_placed.memory_id := (p_decision ->> 'target_id')::uuid;
        v_placed.outcome   := 'none';
        return v_placed;
    elsif v_verb = 'DELETE' then
        v_placed.memory_id := coalesce(v_target.memory_id, (p_decision ->> 'target_id')::uuid);
        -- Without a provenance the decision gets that of its source, as a written row does.
        v_claimed := (recall._candidate_origin(
            v_candidate ->> 'kind', v_candidate ->> 'source',
            (v_candidate ->> 'provenance')::recall.provenance, null, null, p_session.session_id,
            p_settings)).o_provenance;
        if v_target.memory_id is null then
            v_placed.outcome := 'none';
        elsif recall._is_protected(v_target, v_claimed, p_settings) then
            v_placed.outcome := 'disputed';
            perform recall._log_event(p_user_id, v_placed.memory_id, 'disputed',
                                      '{"decision": "DELETE"}', p_job_id);
        else
            v_placed.outcome := 'retracted';
            perform recall._end_memory(v_target, 'retracted', v_now, null, null,
                                       '{"decision": "DELETE"}', p_job_id);
        end if;
        return v_placed;
    end if;

    -- An UPDATE takes missing values from its target. If the target ended without a successor, the
    -- UPDATE is an addition.
    if v_target.memory_id is not null then
        v_candidate := jsonb_build_object(
            'kind', v_target.kind, 'slot', v_target.slot, 'tags', v_target.tags,
            'importance', v_target.importance, 'agent_id', v_target.agent_id) || v_candidate;
    end if;
    v_memory := (recall._candidate_rows(p_user_id, p_session, jsonb_build_array(v_candidate),
                                        recall._uuids(1), v_now, p_settings))[1];
    -- Skip this decision only: raising RC010 would block the extraction of a flooded session.
    if v_memory.provenance >= 'tool_output'
       and recall._source_room(p_user_id, p_session.session_id, p_settings) = 0 then
        v_placed.outcome := 'over_quota';
        return v_placed;
    end if;
    select p.memory_id, p.outcome
      into v_placed.memory_id, v_placed.outcome
      from recall._place_memory(
               v_memory, p_embedding,
               coalesce(v_candidate ->> 'embedding_model', p_settings.embedding_model),
               p_settings, v_target, p_job_id) as p;

    -- Placing the candidate may have superseded the goal; then there is nothing to mark.
    if v_goal.kind = 'goal' then
        v_goal := recall._read_memory(p_user_id, v_goal.memory_id);
        if v_goal.ended_at is not null then
            return v_placed;
        elsif recall._is_protected(v_goal, v_memory.provenance, p_settings) then
            perform recall._log_event(p_user_id, v_goal.memory_id, 'disputed',
                                      '{"decision": "ACHIEVE"}', p_job_id);
        else
            perform recall._achieve_goal(v_goal, '{"decision": "ACHIEVE"}', p_job_id);
        end if;
    end if;
    return v_placed;
end;
$function$;

comment on function recall._apply_decision(uuid, recall.sessions, jsonb,
    recall.memory_embedding.embedding%type, recall.settings, uuid) is
    'Apply one decision: ADD, UPDATE, DELETE, ACHIEVE or NONE.';
