-- recall._verbatim_input(user, session) -> candidates to embed, and the turn they reach to
create or replace function recall._verbatim_input(
    p_user_id    uuid,
    p_session_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_settings recall.settings := recall._settings(p_user_id);
    v_session  recall.sessions := recall._read_session(p_user_id, p_session_id);
    v_through  integer         := least(v_session.turn_count,
                                        v_session.extracted_through_turn
                                        + v_settings.extract_batch);
begin
    return jsonb_build_object(
        'mode', 'verbatim',
        'model', v_settings.embedding_model,
        'candidates', recall._verbatim_candidates(v_session, v_through, v_settings),
        'from_turn', v_session.extracted_through_turn,
        'through_turn', v_through);
end;
$function$;

comment on function recall._verbatim_input(uuid, uuid) is
    'Input of a verbatim extraction: candidates, the turns they come from, the embedding model.';
