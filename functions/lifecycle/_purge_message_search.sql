-- Delete rows of message_search past settings.message_search_retention, in one batch.
-- The retention, which a user may override, starts when a compaction covers the turn. Locked
-- sessions are skipped. o_more reports them, and sessions that are left for the next batch.
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
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $function$
declare
    v_looked  integer := 0;
    v_session recall.sessions;
    v_keep    interval;
    v_due     integer;
    v_next    timestamptz;
    v_last    integer;
    v_rows    integer;
    v_first   integer;
    v_through integer;
begin
    o_done := 0;
    for v_session in
        select s.*
          from recall.sessions as s
         where s.compaction_due   = any ('{true,false}')
           and s.search_purge_at <= p_now
    loop
        -- A session whose rows stay is locked, too, so it counts.
        exit when greatest(o_done, v_looked) >= p_limit
               or clock_timestamp() >= p_until and v_looked > 0;
        -- Citus locks rows of one user only. Sessions that others have locked do not count.
        select s.*
          into v_session
          from recall.sessions as s
         where s.user_id          = v_session.user_id
           and s.session_id       = v_session.session_id
           and s.search_purge_at <= p_now
           for no key update skip locked;
        continue when not found;
        v_looked := v_looked + 1;
        v_keep   := (recall._settings(v_session.user_id)).message_search_retention;

        select max(least(c.to_turn, v_session.compacted_through_turn))
                   filter (where date_add(c.created_at, v_keep, 'UTC') <= p_now),
               min(date_add(c.created_at, v_keep, 'UTC'))
                   filter (where date_add(c.created_at, v_keep, 'UTC') > p_now)
          into v_due, v_next
          from recall.session_summaries as c
         where c.user_id    = v_session.user_id
           and c.session_id = v_session.session_id
           and c.kind       = 'compaction';
        select max(i.turn_index)
          into v_last
          from (
                select d.turn_index
                  from recall.message_search as d
                 where d.user_id     = v_session.user_id
                   and d.session_id  = v_session.session_id
                   and d.turn_index <= v_due
                 order by d.turn_index
                 limit p_limit - o_done
               ) as i;
        with gone as (
            delete from recall.message_search as i
             where i.user_id     = v_session.user_id
               and i.session_id  = v_session.session_id
               and i.turn_index <= v_last
            returning i.turn_index
        )
        select count(*), min(g.turn_index), max(g.turn_index)
          into v_rows, v_first, v_through
          from gone as g;
        o_done := o_done + v_rows;
        perform recall._rewrite_word_blocks(v_session.user_id, v_session.session_id, v_first,
                                            v_through);

        -- A full batch may leave rows that are due.
        continue when o_done >= p_limit;
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
