-- Return the candidates of a verbatim extraction, and the range of turns they come from.
-- For an encrypted user the worker chooses the candidates by the same rule, so it gets the turns
-- and the phrases.
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
        'from_turn', v_session.extracted_through_turn,
        'through_turn', v_through)
        || case
               when v_settings.has_sealed_users and recall._is_sealed_user(p_user_id)
               then jsonb_build_object(
                   'messages', recall._turns_json(v_session, v_session.extracted_through_turn + 1,
                                                  v_through),
                   'min_words', v_settings.verbatim_min_words,
                   'max_characters', v_settings.memory_max_characters,
                   'phrases', (
                       select jsonb_object_agg(g.place, g.phrases)
                         from (
                               select m.place, jsonb_object_agg(m.meaning, m.phrases)
                                 from (
                                       select p.place, p.meaning, jsonb_agg(p.phrase)
                                         from recall.verbatim_phrases as p
                                        group by p.place, p.meaning
                                      ) as m (place, meaning, phrases)
                                group by m.place
                              ) as g (place, phrases)))
               else jsonb_build_object(
                   'candidates', recall._verbatim_candidates(v_session, v_through, v_settings))
           end;
end;
$function$;

comment on function recall._verbatim_input(uuid, uuid) is
    'Input of a verbatim extraction: candidates (for an encrypted user: messages, min_words, '
    'max_characters, phrases), the turns they come from, the embedding model.';
