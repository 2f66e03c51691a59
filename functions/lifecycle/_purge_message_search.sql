-- Delete rows of message_search past settings.message_search_retention, in one batch.
-- The retention, which a user may override, starts at the compaction, which sets search_purge_at of
-- the session. Locked sessions are skipped, and o_more reports them.
-- Locks   sessions, as far as they are free.
create or replace function recall._purge_message_search(
    p_now      timestamptz,
    p_limit    integer,
    p_until    timestamptz,
    out o_done integer,
    out o_more boolean
)
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $function$
declare
    v_session recall.sessions;
    v_before  timestamptz;
    v_next    timestamptz;
    v_rows    integer;
    v_through integer;
begin
    o_done := 0;
    for v_session in
        select s.*
          from recall.sessions as s
         where s.compaction_due   = any ('{true,false}')
           and s.search_purge_at <= p_now
    loop
        exit when o_done >= p_limit or clock_timestamp() >= p_until and o_done > 0;
        -- Citus locks rows of one user only. Sessions that others have locked do not count.
        select s.*
          into v_session
          from recall.sessions as s
         where s.user_id          = v_session.user_id
           and s.session_id       = v_session.session_id
           and s.search_purge_at <= p_now
           for no key update skip locked;
        continue when not found;
        v_before := p_now - (recall._settings(v_session.user_id)).message_search_retention;

        with gone as (
            delete from recall.message_search as i
             where i.user_id     = v_session.user_id
               and i.session_id  = v_session.session_id
               and i.turn_index <= v_session.compacted_through_turn
               and i.created_at  < v_before
            returning i.turn_index
        )
        select count(*), max(g.turn_index) into v_rows, v_through from gone as g;
        o_done := o_done + v_rows;
        perform recall._rewrite_word_blocks(v_session.user_id, v_session.session_id, 1, v_through);

        v_next := (
            select min(i.created_at) + (p_now - v_before) + interval '1 microsecond'
              from recall.message_search as i
             where i.user_id     = v_session.user_id
               and i.session_id  = v_session.session_id
               and i.turn_index <= v_session.compacted_through_turn);
        update recall.sessions as s
           set search_purge_at = v_next
         where s.user_id    = v_session.user_id
           and s.session_id = v_session.session_id;
    end loop;
    o_more := exists (
        select 1 from recall.sessions as s
         where s.compaction_due   = any ('{true,false}')
           and s.search_purge_at <= p_now);
end;
$function$;

comment on function recall._purge_message_search(timestamptz, integer, timestamptz) is
    'Delete rows of message_search whose turns were compacted long ago, in one batch.';
