-- Delete turns of a session that are past its user's own retention.
-- Returns how many, or NULL when the user or the session is locked.
-- Locks   the user, the session, if they are free; the session's jobs.
create or replace function recall._purge_old_turns(
    p_user_id    uuid,
    p_session_id uuid,
    p_since      timestamptz,
    p_limit      integer
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_session recall.sessions;
    v_last    integer;
    v_tokens  bigint;
    v_count   integer;
begin
    if not recall._try_lock_user_and_bump_revision(p_user_id) then
        return null;
    end if;
    select s.*
      into v_session
      from recall.sessions as s
     where s.user_id    = p_user_id
       and s.session_id = p_session_id
       for no key update skip locked;
    if not found then
        return case when not recall._has_session(p_user_id, p_session_id) then 0 end;
    end if;
    v_last := recall._last_old_turn(v_session, p_since, p_limit);
    if v_last = 0 then
        return 0;
    end if;

    with gone as (
        delete from recall.conversation_history as h
         where h.user_id     = p_user_id
           and h.session_id  = p_session_id
           and h.turn_index >= v_session.first_retained_turn
           and h.turn_index <= v_last
           and h.created_at >= v_session.created_at
           and h.created_at  < p_since
        returning h.turn_index, h.token_count
    )
    select coalesce(sum(g.token_count) filter (
               where g.turn_index > v_session.compacted_through_turn
                 and not g.turn_index <@ v_session.retracted_turns), 0),
           count(*)
      into v_tokens, v_count
      from gone as g;
    perform recall._forget_turns(p_user_id, p_session_id, v_last, v_tokens);
    return v_count;
end;
$function$;

comment on function recall._purge_old_turns(uuid, uuid, timestamptz, integer) is
    'Delete a batch of turns of one session that are past its user''s own retention; NULL when '
    'the session or its user is locked.';
