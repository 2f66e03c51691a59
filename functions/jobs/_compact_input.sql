-- recall._compact_input(user, session) -> the turns to summarize, and the summary before them
create or replace function recall._compact_input(
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
    v_window  record          := recall._compaction_window(v_session, recall._settings(p_user_id));
begin
    return jsonb_build_object(
        'summary', recall._summary_text(v_session, 'compaction'),
        'from_turn', v_session.compacted_through_turn + 1,
        'through_turn', coalesce(v_window.o_turn, v_session.compacted_through_turn),
        'retracted', recall._retracted_turns(v_session, v_session.compacted_through_turn + 1,
                                             v_window.o_turn),
        'target_tokens', greatest(64, v_window.o_tokens / 5),
        'messages', recall._turns_json(v_session, v_session.compacted_through_turn + 1,
                                       v_window.o_turn));
end;
$function$;

comment on function recall._compact_input(uuid, uuid) is
    'Input of a compaction: summary so far, from_turn, through_turn, retracted (to be given back), '
    'target_tokens, messages.';
