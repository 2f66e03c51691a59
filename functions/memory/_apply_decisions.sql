-- Apply checked decisions and return their outcomes as a list.
-- The session may be a row of NULLs. For a job, the audit keeps the answer under the job's id with
-- the prompts and models behind it. The caller has locked the user and has checked that the
-- decisions are not applied yet (recall._decided).
create or replace function recall._apply_decisions(
    p_user_id    uuid,
    p_session    recall.sessions,
    p_decisions  jsonb,
    p_embeddings recall.jobs.vectors%type,
    p_settings   recall.settings,
    p_job_id     uuid default null,
    p_made_by    jsonb default null
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
as $function$
declare
    -- Each pair of the vectors in a batch is compared.
    v_chunk   constant integer := 250;
    v_count   constant integer := jsonb_array_length(p_decisions);
    v_next    integer := 1;
    v_from    integer;
    v_adds    jsonb;
    v_placed  recall.placed_memory[];
    v_answer  jsonb := jsonb '[]';
begin
    while v_next <= v_count loop
        -- Consecutive additions are applied together.
        v_from := v_next;
        v_adds := jsonb '[]';
        while p_decisions -> (v_next - 1) ->> 'decision' = 'ADD' and v_next < v_from + v_chunk loop
            v_adds := v_adds || (p_decisions -> (v_next - 1));
            v_next := v_next + 1;
        end loop;
        if v_next > v_from + 1 then
            v_placed := recall._apply_additions(p_user_id, p_session, v_adds,
                                                p_embeddings[v_from:v_next - 1], p_settings,
                                                p_job_id);
        else
            v_next   := v_from + 1;
            v_placed := array[recall._apply_decision(
                p_user_id, p_session, p_decisions -> (v_from - 1), p_embeddings[v_from],
                p_settings, p_job_id)];
        end if;
        for v_place in v_from .. v_next - 1 loop
            v_answer := v_answer || jsonb_build_object(
                'ordinal', v_place, 'decision', p_decisions -> (v_place - 1) -> 'decision',
                'memory_id', v_placed[v_place - v_from + 1].memory_id,
                'outcome', v_placed[v_place - v_from + 1].outcome);
        end loop;
    end loop;
    if p_job_id is not null then
        perform recall._log_event(p_user_id, p_job_id, 'decided',
                                  jsonb_build_object('answer', v_answer, 'made_by', p_made_by),
                                  p_job_id);
    end if;
    return v_answer;
end;
$function$;

comment on function recall._apply_decisions(uuid, recall.sessions, jsonb, recall.jobs.vectors%type,
    recall.settings, uuid, jsonb) is
    'Apply checked decisions; outcomes in order.';
