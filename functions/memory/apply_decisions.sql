-- Apply a model's decisions about candidates and their neighbors, in one transaction.
--  ADD inserts; UPDATE inserts and supersedes the target; DELETE retracts the target;
--  ACHIEVE inserts and marks the target, a goal, as achieved; NONE does nothing.
-- A superseded target is followed to the active end of its chain. The decisions of a job are
-- applied once: a second call changes nothing and returns the same rows.
-- Locks   the user, the jobs (for a retraction).
-- Raises  RC001 unknown session or target, RC003, RC004.
create or replace function recall.apply_decisions(
    p_user_id    uuid,
    p_session_id uuid,
    p_decisions  jsonb,
    p_job_id     uuid      default null,
    p_embeddings recall.jobs.vectors%type default null
)
returns table (
    ordinal   integer,
    decision  text,
    memory_id uuid,
    outcome   text
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
as $function$
declare
    v_settings   recall.settings;
    v_session    recall.sessions;
    v_embeddings recall.memory_embedding.embedding%type[];
    v_answer     jsonb;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_decisions, 'p_decisions', 64, 2147483647);
    v_settings := recall._settings(p_user_id);
    perform recall._check_candidates(p_decisions, 'decisions', '{decision,target_id}', v_settings);
    perform recall._refuse_secrets(p_decisions, v_settings);
    v_embeddings := recall._candidate_embeddings(p_decisions, p_embeddings, v_settings);
    perform recall._lock_user_and_bump_revision(p_user_id);
    if p_session_id is not null then
        v_session := recall._read_session(p_user_id, p_session_id);
    end if;

    v_answer := recall._decided(p_user_id, p_job_id);
    if v_answer is null then
        v_answer := recall._apply_decisions(
            p_user_id, v_session,
            recall._cited_candidates(p_user_id, v_session, p_decisions), v_embeddings, v_settings,
            p_job_id);
    end if;
    return query
    select a.ordinal, a.decision, a.memory_id, a.outcome
      from jsonb_to_recordset(v_answer)
               as a (ordinal integer, decision text, memory_id uuid, outcome text)
     order by a.ordinal;
end;
$function$;

comment on function recall.apply_decisions(uuid, uuid, jsonb, uuid, recall.jobs.vectors%type) is
    'Apply ADD, UPDATE, DELETE, ACHIEVE and NONE in one transaction, one row a decision in order. '
    'A decision has the keys decision, target_id and those of a candidate. Repeatable per job.';
