-- recall._retire_turns(leaf, upper_bound, now) -> may the leaf go?
-- Every session with turns in it must have been over, or compacted past them, for as long as its
-- user's history is kept (recall._may_retire); and they must be its first ones (an import may have
-- brought old turns after new ones). Then the sessions forget those turns, and so do the tables
-- about them. The sessions' conditions are asked again on the row that is written. The caller has
-- locked the leaf against writers.
-- Locks   the sessions.
create or replace function recall._retire_turns(
    p_leaf        regclass,
    p_upper_bound timestamptz,
    p_now         timestamptz
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_turns     constant text     := format(
        'select h.user_id, h.session_id, min(h.turn_index) as first_turn,'
        ' max(h.turn_index) as last_turn, count(*) as turns'
        ' from %s as h group by h.user_id, h.session_id', p_leaf);
    v_retention constant interval := (select s.history_retention from recall.settings as s);
    v_sessions  integer;
    v_allowed   integer;
    v_retired   integer;
begin
    execute format($query$
        select count(*),
               count(*) filter (
                   where t.first_turn = s.first_retained_turn
                     and t.turns = t.last_turn - t.first_turn + 1
                     and $1 <= r.since
                     and recall._may_retire(s, t.last_turn, r.since))
          from (%s) as t
          join recall.sessions as s on s.user_id = t.user_id and s.session_id = t.session_id
          join recall.users as u on u.user_id = t.user_id
         cross join lateral (
                select date_subtract($2, coalesce((u.overrides ->> 'history_retention')::interval,
                                                  $3), 'UTC')
               ) as r (since)
        $query$, v_turns)
       into v_sessions, v_allowed
      using p_upper_bound, p_now, v_retention;
    if v_allowed < v_sessions then
        return false;
    end if;

    execute format($query$
        update recall.sessions as s
           set first_retained_turn = t.last_turn + 1,
               active_tokens       = s.active_tokens - (
                   select coalesce(sum(h.token_count), 0)
                     from %s as h
                    where h.user_id    = s.user_id
                      and h.session_id = s.session_id
                      and h.turn_index > s.compacted_through_turn
                      and not h.turn_index <@ s.retracted_turns)
          from (%s) as t
         where s.user_id             = t.user_id
           and s.session_id          = t.session_id
           and s.first_retained_turn = t.first_turn
           and (s.status in ('closed', 'expired') or t.last_turn <= s.compacted_through_turn)
        $query$, p_leaf, v_turns);
    get diagnostics v_retired = row_count;
    if v_retired < v_sessions then
        return false;
    end if;

    execute format('delete from recall.message_search as i using (%s) as t'
                   ' where i.user_id = t.user_id and i.session_id = t.session_id'
                   ' and i.turn_index <= t.last_turn', v_turns);
    execute format('delete from recall.message_annotations as a using (%s) as t'
                   ' where a.user_id = t.user_id and a.session_id = t.session_id'
                   ' and a.turn_index <= t.last_turn', v_turns);
    return true;
end;
$function$;

comment on function recall._retire_turns(regclass, timestamptz, timestamptz) is
    'Let sessions forget the turns of a month, if all of them may.';
