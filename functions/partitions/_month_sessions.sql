-- List sessions with turns in a month by id, and whether these turns are or may be retired.
-- is_retired: the session no longer refers to them. may_go: they may be retired.
-- The session must have ended, or be compacted past them, for its user's history retention
-- (recall._may_retire). They must also be its first turns, since an import may add old turns after
-- new ones.
create or replace function recall._month_sessions(
    p_leaf          regclass,
    p_upper_bound   timestamptz,
    p_now           timestamptz,
    p_after_user    uuid    default null,
    p_after_session uuid    default null,
    p_limit         integer default null
)
returns table (
    user_id    uuid,
    session_id uuid,
    first_turn integer,
    last_turn  integer,
    is_retired boolean,
    may_go     boolean
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_retention constant interval := (select s.history_retention from recall.settings as s);
begin
    for user_id, session_id, first_turn, last_turn, is_retired, may_go in execute format($query$
        select t.user_id, t.session_id, t.first_turn, t.last_turn,
               t.last_turn < s.first_retained_turn,
               t.first_turn = s.first_retained_turn
               and t.turns = t.last_turn - t.first_turn + 1
               and $1 <= r.since
               and recall._may_retire(row(s.*), t.last_turn, r.since)
          from (
                select h.user_id, h.session_id, min(h.turn_index) as first_turn,
                       max(h.turn_index) as last_turn, count(*) as turns
                  from %s as h
                 where (h.user_id, h.session_id)
                       > (coalesce($4, '00000000-0000-0000-0000-000000000000'),
                          coalesce($5, '00000000-0000-0000-0000-000000000000'))
                 group by h.user_id, h.session_id
                 order by h.user_id, h.session_id
                 limit $6
               ) as t
          join recall.sessions as s on s.user_id = t.user_id and s.session_id = t.session_id
          join recall.users as u on u.user_id = t.user_id
         cross join lateral (
                select date_subtract($2, coalesce((u.overrides ->> 'history_retention')::interval,
                                                  $3), 'UTC')
               ) as r (since)
         order by t.user_id, t.session_id
        $query$, p_leaf)
      using p_upper_bound, p_now, v_retention, p_after_user, p_after_session, p_limit
    loop
        return next;
    end loop;
end;
$function$;

comment on function recall._month_sessions(regclass, timestamptz, timestamptz, uuid, uuid, integer)
    is 'Sessions with turns in a month, and whether those turns are retired or may be.';
