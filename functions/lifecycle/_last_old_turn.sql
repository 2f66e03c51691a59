-- Return the last turn of a session that is past its user's own retention; 0 for none.
-- The rules are those of whole months (_may_retire): the session ended, or was compacted past the
-- turn, before p_since. Only the first turns go, calls stay with their answers, and turns that an
-- extraction has yet to read stay. The caller has locked the session.
create or replace function recall._last_old_turn(
    p_session recall.sessions,
    p_since   timestamptz,
    p_limit   integer
)
returns integer
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_first constant integer := p_session.first_retained_turn;
    v_last  integer;
    v_cut   integer;
begin
    v_last := greatest(
        case when p_session.status in ('closed', 'expired') and p_session.updated_at <= p_since
             then p_session.turn_count end,
        (select least(max(c.to_turn), p_session.compacted_through_turn)
           from recall.session_summaries as c
          where c.user_id     = p_session.user_id
            and c.session_id  = p_session.session_id
            and c.kind        = 'compaction'
            and c.created_at <= p_since
         having count(*) > 0));
    if exists (
        select from recall.jobs as j
         where j.user_id    = p_session.user_id
           and j.session_id = p_session.session_id
           and j.kind       = 'extract'
           and j.state     <> 'dead'
    ) then
        v_last := least(v_last, p_session.extracted_through_turn);
    end if;
    if coalesce(v_last, 0) < v_first then
        return 0;
    end if;

    -- Turns younger than the retention, and those beyond the batch, stay.
    v_last := least(v_last, v_first + p_limit - 1, coalesce((
        select min(h.turn_index) - 1
          from recall.conversation_history as h
         where h.user_id     = p_session.user_id
           and h.session_id  = p_session.session_id
           and h.turn_index >= v_first
           and h.turn_index <= v_last
           and h.created_at >= p_since), v_last));

    select max(h.turn_index) - 1
      into v_cut
      from recall.conversation_history as h
     where h.user_id     = p_session.user_id
       and h.session_id  = p_session.session_id
       and h.turn_index >= v_first
       and h.turn_index <= v_last + 1
       and h.role       <> 'tool';
    if v_last < p_session.turn_count and v_cut >= v_first then
        v_last := v_cut;
    elsif v_last < p_session.turn_count and v_cut < v_last and v_last < v_first + p_limit - 1 then
        v_last := 0;  -- The only call left has an answer that must stay.
    end if;
    return case when v_last >= v_first then v_last else 0 end;
end;
$function$;

comment on function recall._last_old_turn(recall.sessions, timestamptz, integer) is
    'Last turn of a session that is past its user''s own retention and may go; 0 for none.';
