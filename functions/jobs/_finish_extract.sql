-- recall._finish_extract(job, result) -> done? (false: the world moved)
-- Candidates with a decision take it, the others are added, which settles duplicates and slots;
-- episodes come out of the same call. One transaction with the cursor, which says that it happens
-- once. What came without a vector gets it later.
-- Locks   the user, the session, the memories.
-- Raises  RC001 a target that is not this user's, RC003, RC004.
create or replace function recall._finish_extract(
    p_job    recall.jobs,
    p_result jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_settings   recall.settings := recall._job_settings(p_job.user_id);
    v_candidates jsonb           := coalesce(nullif(p_result -> 'candidates', 'null'), '[]');
    v_episodes   jsonb           := coalesce(nullif(p_result -> 'episodes', 'null'), '[]');
    v_from       integer;
    v_through    integer;
    v_session    recall.sessions;
    v_decisions  jsonb;
    v_embeddings halfvec[];
begin
    perform recall._check_keys(
        p_result,
        '{candidates,episodes,embeddings,embedding_model,decisions,from_turn,through_turn}',
        'p_result');
    perform recall._check_model(p_result, v_settings);
    perform recall._lock_user(p_job.user_id);
    v_session := recall._take_session(p_job.user_id, p_job.session_id);
    v_from    := recall._integer(p_result, 'from_turn');
    v_through := recall._through_turn(p_result);
    if v_from is distinct from v_session.extracted_through_turn
       or v_through not between v_from and v_session.turn_count then
        return false;
    end if;

    -- What is no list of objects is refused below.
    if jsonb_typeof(v_episodes) = 'array' then
        v_episodes := (
            select coalesce(jsonb_agg(
                       case when jsonb_typeof(e.episode) = 'object'
                            then (e.episode - 'provenance') || '{"kind": "episode"}'
                            else e.episode end
                       order by e.ordinal), '[]')
              from jsonb_array_elements(v_episodes) with ordinality as e (episode, ordinal));
    end if;
    v_candidates := recall._extracted_candidates(v_session, v_from, v_through, v_candidates);
    v_episodes   := recall._extracted_candidates(v_session, v_from, v_through, v_episodes);
    v_decisions  := recall._decisions_of(v_candidates, p_result -> 'decisions')
                    || recall._decisions_of(v_episodes, null);
    perform recall._check_candidates(v_decisions, 'decisions', '{decision,target_id}', v_settings);
    v_embeddings := recall._candidate_embeddings(
        v_decisions, recall._embeddings_from_json(p_result -> 'embeddings'));

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
    'Store what a model extracted and decided, and move the session''s cursor.';
