-- Return the input of an extraction's first question.
-- It has the turns after the cursor, the date of the last message, the kinds of memory, and the
-- user's known attributes. The summary resolves references such as "that one".
create or replace function recall._extract_input(
    p_user_id    uuid,
    p_session_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings := recall._settings(p_user_id);
    v_session  recall.sessions := recall._read_session(p_user_id, p_session_id);
    v_through  integer         := least(
        v_session.turn_count, v_session.extracted_through_turn + v_settings.extract_batch);
    v_messages jsonb           := recall._turns_json(
        v_session, v_session.extracted_through_turn + 1, v_through);
begin
    return jsonb_build_object(
        'observation_date', to_char(v_session.last_message_at at time zone 'UTC', 'YYYY-MM-DD'),
        'summary', (recall._summary_before(v_session, '{rolling,compaction}')).o_content,
        'messages', v_messages,
        'kinds', (
            select jsonb_object_agg(k.kind, k.description)
              from recall.memory_kinds as k
             where k.kind not in ('episode', 'pattern')),
        'profile', recall.get_profile(p_user_id),
        'max_facts', v_settings.max_facts_per_turn * (
            select count(*)
              from jsonb_array_elements(v_messages) as m (message)
             where m.message ->> 'role' = 'user'),
        'from_turn', v_session.extracted_through_turn,
        'through_turn', v_through);
end;
$function$;

comment on function recall._extract_input(uuid, uuid) is
    'Input of an extraction by a model: messages, summary, observation_date, kinds, profile, '
    'max_facts, from_turn, through_turn.';
