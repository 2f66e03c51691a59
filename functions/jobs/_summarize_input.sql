-- Return the rolling summary so far and the messages since.
create or replace function recall._summarize_input(
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
    v_session recall.sessions := recall._read_session(p_user_id, p_session_id);
    v_from    integer         := recall._summarized_through(v_session) + 1;
begin
    return jsonb_build_object(
        'summary', coalesce(recall._summary_text(v_session, 'rolling'),
                            recall._summary_text(v_session, 'compaction')),
        'chat_model', v_session.model_id,
        'from_turn', v_from,
        'through_turn', v_session.turn_count,
        'messages', recall._turns_json(v_session, v_from, v_session.turn_count));
end;
$function$;

comment on function recall._summarize_input(uuid, uuid) is
    'Input of a rolling summary: summary so far, chat_model (whose tokens count), from_turn, '
    'through_turn, messages.';
