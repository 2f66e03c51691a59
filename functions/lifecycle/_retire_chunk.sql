-- Erase the turns of a month from some sessions.
-- Returns the number of sessions, whether one may not lose its turns (o_left), whether one is
-- locked (o_held), and the last one's ids.
-- Locks   users and sessions, as far as they are free; then their jobs.
create or replace function recall._retire_chunk(
    p_leaf           regclass,
    p_upper_bound    timestamptz,
    p_now            timestamptz,
    p_after_user     uuid,
    p_after_session  uuid,
    p_limit          integer,
    out o_sessions   integer,
    out o_left       boolean,
    out o_held       boolean,
    out o_user_id    uuid,
    out o_session_id uuid
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set jit = off
as $function$
declare
    v_session record;
begin
    o_sessions := 0;
    o_left     := false;
    o_held     := false;
    for v_session in
        select m.*
          from recall._month_sessions(p_leaf, p_upper_bound, p_now, p_after_user,
                                      p_after_session, p_limit) as m
    loop
        o_sessions   := o_sessions + 1;
        o_user_id    := v_session.user_id;
        o_session_id := v_session.session_id;
        continue when v_session.is_retired;

        if not v_session.may_go then
            o_left := true;
        elsif not recall._retire_session(
                  p_leaf, v_session.user_id, v_session.session_id, v_session.first_turn,
                  v_session.last_turn) then
            o_held := true;
        end if;
    end loop;
end;
$function$;

comment on function recall._retire_chunk(regclass, timestamptz, timestamptz, uuid, uuid, integer) is
    'Erase the turns of a month from some sessions.';
