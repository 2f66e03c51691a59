-- Apply checked decisions and return their outcomes as a list.
-- The session may be a row of NULLs. For a job, the audit keeps the answer under the job's id with
-- the prompts and models behind it. The caller has locked the user and has checked that the
-- decisions are not applied yet (recall._decided).
create or replace function recall._apply_decisions(
    p_user_id    uuid,
    p_session    recall.sessions,
    p_decisions  jsonb,
    p_embeddings halfvec[],
    p_settings   recall.settings,
    p_job_id     uuid default null,
    p_made_by    jsonb default null
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path from current
set timezone = 'UTC'
as $function$
declare
    v_answer jsonb := jsonb '[]';
    v_one    recall.placed_memory;
begin
    for v_place in 1 .. jsonb_array_length(p_decisions) loop
        select a.memory_id, a.outcome
          into v_one.memory_id, v_one.outcome
          from recall._apply_decision(p_user_id, p_session, p_decisions -> (v_place - 1),
                                      p_embeddings[v_place], p_settings, p_job_id) as a;
        v_answer := v_answer || jsonb_build_object(
            'ordinal', v_place, 'decision', p_decisions -> (v_place - 1) -> 'decision',
            'memory_id', v_one.memory_id, 'outcome', v_one.outcome);
    end loop;
    if p_job_id is not null then
        perform recall._log_event(p_user_id, p_job_id, 'decided',
                                  jsonb_build_object('answer', v_answer, 'made_by', p_made_by),
                                  p_job_id);
    end if;
    return v_answer;
end;
$function$;

comment on function recall._apply_decisions(uuid, recall.sessions, jsonb, halfvec[],
    recall.settings, uuid, jsonb) is
    'Apply checked decisions; outcomes in order.';
