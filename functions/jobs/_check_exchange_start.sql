-- recall._check_exchange_start(session, turn)
-- What a compaction leaves begins with a user message, so that no tool call is cut from its
-- answers.
-- Raises  RC003.
create or replace function recall._check_exchange_start(
    p_session recall.sessions,
    p_turn    integer
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    perform
       from recall.conversation_history as h
      where h.user_id    = p_session.user_id
        and h.session_id = p_session.session_id
        and h.created_at between p_session.created_at and p_session.last_message_at
        and h.turn_index = p_turn
        and h.role       = 'user';
    if not found then
        raise exception using
            errcode = 'RC003',
            message = format('through_turn %s ends inside an exchange', p_turn - 1),
            hint    = 'Give back the through_turn of the job''s input.';
    end if;
end;
$function$;

comment on function recall._check_exchange_start(recall.sessions, integer) is
    'Refuse a turn that no exchange starts with (RC003).';
