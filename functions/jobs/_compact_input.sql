-- Return the turns that a compaction summarizes, and the summary before them.
-- A session below its threshold has no such turns, and through_turn stays where it is: another
-- compaction has done the work of this one.
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
    v_settings recall.settings := recall._settings(p_user_id);
    v_session  recall.sessions := recall._read_session(p_user_id, p_session_id);
    v_window   record;
begin
    v_window := recall._compaction_window(v_session, v_settings);
    if not recall._needs_compaction(v_session, v_settings) then
        v_window.o_turn   := null;
        v_window.o_tokens := null;
    end if;

    return jsonb_build_object(
        'summary', recall._summary_text(v_session, 'compaction'),
        'chat_model', v_session.model_id,
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
    'Input of a compaction: summary so far, chat_model (whose tokenizer counts), from_turn, '
    'through_turn, retracted (the result repeats it), target_tokens, messages.';
