-- Build the request that lets a worker choose the statements of an encrypted user.
-- It holds the ciphertexts of the user's messages, and the phrases and limits of the rule.
create or replace function recall._statements_question(
    p_session  recall.sessions,
    p_window   jsonb,
    p_settings recall.settings
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return jsonb_build_object(
        'keep', p_window,
        'schema', jsonb '{"type": "object", "properties": {"candidates": {"type": "array",
            "items": {"type": "object", "properties": {
                "turn": {"type": "integer"}, "content": {"type": "string"},
                "token_count": {"type": ["integer", "null"], "default": null}}}}}}',
        'request', jsonb_build_object(
            'type', 'select', 'purpose', 'select',
            'messages', (
                select coalesce(jsonb_agg(jsonb_build_object(
                           'turn', m.message -> 'turn_index',
                           'ciphertext', m.message -> 'text',
                           'row', m.message -> 'message_id') order by m.place), '[]')
                  from jsonb_array_elements(recall._turns_json(
                           p_session, (p_window ->> 'from_turn')::integer + 1,
                           (p_window ->> 'through_turn')::integer))
                       with ordinality as m (message, place)
                 where m.message ->> 'role' = 'user'
                   and m.message ->> 'text' <> ''),
            'min_words', p_settings.verbatim_min_words,
            'max_characters', p_settings.memory_max_characters,
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
                       ) as g (place, phrases))));
end;
$function$;

comment on function recall._statements_question(recall.sessions, jsonb, recall.settings) is
    'Request that lets the worker of an encrypted user choose the statements to keep.';
