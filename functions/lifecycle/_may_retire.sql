-- recall._may_retire(session, last_turn, since) -> may its turns up to this one go?
-- History is kept for some time after its session was closed, has expired, or was compacted past
-- it: an old conversation that was imported yesterday was closed yesterday. Whatever is done with a
-- session that takes no messages any more (its last extraction) counts as use.
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
    'Whether a session has been over, or compacted past a turn, since some time.';
