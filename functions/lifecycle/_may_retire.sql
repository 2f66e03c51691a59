-- Say whether a session's turns up to p_last_turn may be deleted.
-- Retention starts when the session is closed, expires, or is compacted past the turn: an old
-- conversation imported yesterday was closed yesterday. Later work on an ended session, such as its
-- last extraction, counts as use.
create or replace function recall._may_retire(
    p_session   recall.sessions,
    p_last_turn integer,
    p_since     timestamptz
)
returns boolean
language sql
stable
parallel safe
as $function$
    select (p_session).status in ('closed', 'expired') and (p_session).updated_at <= p_since
        or p_last_turn <= (p_session).compacted_through_turn
           and exists (
                   select
                     from recall.session_summaries as c
                    where c.user_id    = (p_session).user_id
                      and c.session_id = (p_session).session_id
                      and c.kind       = 'compaction'
                      and c.to_turn    >= p_last_turn
                      and c.created_at <= p_since);
$function$;

comment on function recall._may_retire(recall.sessions, integer, timestamptz) is
    'Whether a session ended, or was compacted past a turn, before p_since.';
