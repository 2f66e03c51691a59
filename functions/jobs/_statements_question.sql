-- Build the request that lets a worker choose the statements of an encrypted user.
-- It holds the ciphertexts of the user's messages, and the phrases and limits of the rule.
create or replace function recall._statements_question(
    p_job    recall.jobs,
    p_window jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_input constant jsonb := recall._verbatim_input(p_job.user_id, p_job.session_id);
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
                  from jsonb_array_elements(v_input -> 'messages')
                       with ordinality as m (message, place)
                 where m.message ->> 'role' = 'user'
                   and m.message ->> 'text' <> ''
                   and (m.message -> 'turn_index')::integer
                       <= (p_window -> 'through_turn')::integer),
            'min_words', v_input -> 'min_words',
            'max_characters', v_input -> 'max_characters',
            'phrases', v_input -> 'phrases'));
end;
$function$;

comment on function recall._statements_question(recall.jobs, jsonb) is
    'Request to the worker of an encrypted user: which messages state something?';
