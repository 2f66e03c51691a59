-- Return the turns that a compaction summarizes, after p_read, and the summary before them.
-- A session below its threshold has no such turns, and through_turn stays where it is: another
-- compaction has done the work of this one.
create or replace function recall._compact_input(
    p_user_id    uuid,
    p_session_id uuid,
    p_read       integer
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
    v_through  integer;
    v_tokens   bigint;
begin
    if recall._needs_compaction(v_session, v_settings) then
        select w.o_turn, w.o_tokens
          into v_through, v_tokens
          from recall._compaction_window(v_session, v_settings) as w;
    end if;

    return jsonb_build_object(
        'summary', (recall._summary_before(v_session, '{compaction}')).o_content,
        'from_turn', v_session.compacted_through_turn + 1,
        'through_turn', coalesce(v_through, v_session.compacted_through_turn),
        'retracted', recall._retracted_turns(v_session, v_session.compacted_through_turn + 1,
                                             v_through),
        'target_tokens', greatest(64, v_tokens / 5),
        'messages', recall._turns_json(
            v_session, greatest(v_session.compacted_through_turn, p_read) + 1, v_through));
end;
$function$;

comment on function recall._compact_input(uuid, uuid, integer) is
    'Input of a compaction: summary so far, chat_model (whose tokenizer counts), from_turn, '
    'through_turn, retracted (the result repeats it), target_tokens, messages.';
