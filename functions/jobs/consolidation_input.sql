-- recall.consolidation_input(user, job, token, candidates, embeddings) -> for the second pass
-- Between the two passes of an extraction: what SQL can settle needs no model. A candidate is
-- settled when its text or nearly its text is known, when its slot says what it replaces, or when
-- nothing similar is remembered; for the others ("open") it gives the most similar memories.
-- Raises  RC001 no such job under this lease, RC003, RC004.
create or replace function recall.consolidation_input(
    p_user_id     uuid,
    p_job_id      uuid,
    p_lease_token uuid,
    p_candidates  jsonb,
    p_embeddings  halfvec[] default null
)
returns jsonb
language plpgsql
stable
parallel unsafe
security definer
set search_path from current
as $function$
declare
    v_settings   recall.settings;
    v_session    recall.sessions;
    v_input      jsonb;
    v_candidates jsonb;
    v_embeddings halfvec[];
begin
    perform recall._check_json(p_candidates, 'p_candidates');
    v_input      := recall.job_input(p_user_id, p_job_id, p_lease_token);
    v_settings   := recall._settings(p_user_id);
    v_session    := recall._read_session(p_user_id, (v_input ->> 'session_id')::uuid);
    v_candidates := recall._extracted_candidates(
        v_session, (v_input ->> 'from_turn')::integer, (v_input ->> 'through_turn')::integer,
        p_candidates);
    perform recall._check_candidates(v_candidates, 'candidates', '{}', v_settings);
    v_embeddings := recall._candidate_embeddings(v_candidates, p_embeddings);
    return jsonb_build_object('open', recall._open_candidates(v_session, v_candidates,
                                                              v_embeddings, v_settings));
end;
$function$;

comment on function recall.consolidation_input(uuid, uuid, uuid, jsonb, halfvec[]) is
    'Candidates of an extraction that need a model''s decision, with their neighbors, as "open".';
