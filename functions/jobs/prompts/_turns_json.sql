-- Return the messages of a range of turns for a prompt: user, assistant and tool messages.
-- Memories and summaries in prompts are never part of the history. The text of answers of a memory
-- tool (metadata "recalled") is left out, and so are messages of items only.
create or replace function recall._turns_json(
    p_session   recall.sessions,
    p_from_turn integer,
    p_to_turn   integer
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_turns jsonb;
begin
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
               'turn_index', h.turn_index,
               'message_id', h.message_id,
               'role', h.role,
               'name', h.name,
               'text', case when h.metadata -> 'recalled' is distinct from 'true'
                            then coalesce(h.content, recall._content_text(null, h.content_parts))
                            end,
               'tool_calls', h.tool_calls,
               'token_count', h.token_count,
               'created_at', h.created_at)) order by h.turn_index), '[]')
      into v_turns
      from recall.conversation_history as h
     where h.user_id    = p_session.user_id
       and h.session_id = p_session.session_id
       and h.created_at between p_session.created_at and p_session.last_message_at
       and h.turn_index between p_from_turn and p_to_turn
       and not h.turn_index <@ p_session.retracted_turns
       and h.role not in ('system', 'developer')
       and recall._is_shown(h.content_parts, h.tool_calls, h.tool_call_id);
    return v_turns;
end;
$function$;

comment on function recall._turns_json(recall.sessions, integer, integer) is
    'Turns of a session for a prompt: turn_index, message_id, role, name, text, tool_calls, '
    'token_count, created_at.';
