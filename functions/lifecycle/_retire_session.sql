-- Erase a session's turns of a month, and return whether it did.
-- Rows that refer to the turns go, too. The conditions are checked again on the locked row. Returns
-- false when the user or the session is locked.
-- Locks   the user, the session, if they are free; the session's jobs.
create or replace function recall._retire_session(
    p_leaf       regclass,
    p_user_id    uuid,
    p_session_id uuid,
    p_first_turn integer,
    p_last_turn  integer
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
declare
    v_session recall.sessions;
    v_tokens  bigint;
begin
    if not recall._try_lock_user_and_bump_revision(p_user_id) then
        return false;
    end if;
    select s.*
      into v_session
      from recall.sessions as s
     where s.user_id             = p_user_id
       and s.session_id          = p_session_id
       and s.first_retained_turn = p_first_turn
       and (s.status in ('closed', 'expired') or s.compacted_through_turn >= p_last_turn)
       for no key update skip locked;
    if not found then
        return false;
    end if;

    execute format($query$
        select coalesce(sum(h.token_count), 0)
          from %s as h
         where h.user_id    = $1
           and h.session_id = $2
           and h.turn_index > $3
           and not h.turn_index <@ $4
        $query$, p_leaf)
       into v_tokens
      using p_user_id, p_session_id, v_session.compacted_through_turn, v_session.retracted_turns;
    perform recall._forget_turns(p_user_id, p_session_id, p_last_turn, v_tokens);
    return true;
end;
$function$;

comment on function recall._retire_session(regclass, uuid, uuid, integer, integer) is
    'Erase a session''s turns of a month.';
