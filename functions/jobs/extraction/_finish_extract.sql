-- Store an extraction's memories; return false when the session has changed or opted out meanwhile.
-- Candidates with a decision follow it. The others are added, which handles duplicates and slots.
-- The cursor moves in the same transaction, so that a result is applied once. Memories without a
-- vector get one later.
-- Locks   the user, the session, the memories.
-- Raises  RC001 a target that is not this user's, RC003 a candidate that cannot be stored.
create or replace function recall._finish_extract(
    p_job    recall.jobs,
    p_result jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings   recall.settings := recall._settings(p_job.user_id);
    v_from       constant integer := (p_result ->> 'from_turn')::integer;
    v_through    constant integer := (p_result ->> 'through_turn')::integer;
    v_session    recall.sessions;
    v_candidates jsonb;
    v_decisions  jsonb;
    v_embeddings recall.memory_embedding.embedding%type[];
begin
    perform recall._lock_user_and_bump_revision(p_job.user_id);
    v_session := recall._lock_session(p_job.user_id, p_job.session_id);
    if v_from <> v_session.extracted_through_turn
       or recall._extraction_mode(v_session, v_settings) = 'none' then
        return false;
    end if;

    -- Decisions refer to candidates by ordinal, so episodes follow them. A candidate that the model
    -- was not asked about gets ADD.
    v_candidates := recall._extracted_candidates(
        v_session, v_from, v_through, (p_result -> 'candidates') || (
            select coalesce(jsonb_agg(e.episode || '{"kind": "episode"}' order by e.ordinal), '[]')
              from jsonb_array_elements(p_result -> 'episodes')
                   with ordinality as e (episode, ordinal)));
    select coalesce(jsonb_agg(
               c.candidate
               || case when d.decision is null then '{"decision": "ADD"}'
                       else jsonb_strip_nulls(jsonb_build_object(
                                'decision', d.decision -> 'decision',
                                'target_id', d.decision -> 'target_id')) end
               order by c.ordinal), '[]')
      into v_decisions
      from jsonb_array_elements(v_candidates) with ordinality as c (candidate, ordinal)
      left join jsonb_array_elements(p_result -> 'decisions') as d (decision)
        on d.decision ->> 'ordinal' = c.ordinal::text;
    v_decisions := recall._counted_candidates(p_job, v_decisions);
    perform recall._check_candidates(v_decisions, 'decisions', '{decision,target_id}', v_settings);
    v_embeddings := recall._candidate_embeddings(
        v_decisions, case when p_result ->> 'embedding_model' = v_settings.embedding_model
                         then p_job.vectors end, v_settings);

    if v_decisions <> '[]' then
        perform recall._apply_decisions(p_job.user_id, v_session, v_decisions, v_embeddings,
                                        v_settings, p_job.job_id, p_job.work #> '{made,made_by}');
        if array_position(v_embeddings, null) is not null then
            perform recall._enqueue_job(p_job.user_id, 'embed', p_job.session_id,
                                        p_job.session_id::text);
        end if;
    end if;
    perform recall._advance_extraction(v_session, v_through);
    perform recall._enqueue_due_summary(v_session, v_through, v_settings);
    return true;
end;
$function$;

comment on function recall._finish_extract(recall.jobs, jsonb) is
    'Store the memories that a model extracted and decided on, and move the session''s cursor.';
