-- Retract the turns from p_from_turn on, for regenerate and undo.
-- Retracted turns leave context, search and extraction but stay on record. Compacted turns cannot
-- be retracted, because they are part of a summary.
-- Locks   the user, the session, its jobs.
-- Raises  RC001, RC003 a turn that does not exist, RC006 a compacted turn.
create or replace function recall.retract_turns(
    p_user_id    uuid,
    p_session_id uuid,
    p_from_turn  integer
)
returns integer
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_now     timestamptz := clock_timestamp();
    v_session recall.sessions;
    v_tokens  bigint;
    v_turns   integer;
begin
    perform recall._check_user(p_user_id);
    -- Lock the user's row first: next_request locks it before it reads the session.
    perform recall._lock_user_for_update(p_user_id);
    v_session := recall._lock_session(p_user_id, p_session_id);

    if p_from_turn is null or p_from_turn not between 1 and v_session.turn_count then
        raise exception using
            errcode = 'RC003',
            message = format('p_from_turn is %s', coalesce(p_from_turn::text, 'null')),
            hint    = format('The session has turns 1 to %s.', v_session.turn_count);
    end if;
    if p_from_turn <= v_session.compacted_through_turn then
        raise exception using
            errcode = 'RC006',
            message = format('turn %s is compacted', p_from_turn),
            hint    = format('Turns from %s on can be retracted.',
                             v_session.compacted_through_turn + 1);
    end if;

    select coalesce(sum(h.token_count), 0), count(*)
      into v_tokens, v_turns
      from recall.conversation_history as h
     where h.user_id    = p_user_id
       and h.session_id = p_session_id
       and h.created_at between v_session.created_at and v_session.last_message_at
       and h.turn_index between p_from_turn and v_session.turn_count
       and not h.turn_index <@ v_session.retracted_turns;

    update recall.sessions as s
       set retracted_turns = s.retracted_turns
                             + int4multirange(int4range(p_from_turn, s.turn_count, '[]')),
           active_tokens   = s.active_tokens - v_tokens,
           updated_at      = v_now
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;

    perform recall._discard_work(p_user_id, p_session_id);
    delete from recall.message_search as m
     where m.user_id    = p_user_id
       and m.session_id = p_session_id
       and m.turn_index >= p_from_turn;
    perform recall._rewrite_word_blocks(p_user_id, p_session_id, p_from_turn,
                                        v_session.turn_count);

    return v_turns;
end;
$function$;

comment on function recall.retract_turns(uuid, uuid, integer) is
    'Retract the turns from p_from_turn on; they stay on record. Returns how many turns were '
    'retracted. RC001: the session does not exist. RC003: the turn does not exist. RC006: the '
    'turn is compacted.';
