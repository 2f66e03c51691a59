-- recall._compaction_window(session, settings) -> the last turn to compact, and its tokens
-- The oldest active turns, whole exchanges only, until what stays is at most half of the history
-- budget of a continuation; the last settings.compaction_keep exchanges always stay. An exchange
-- begins with a user message. NULL when there is nothing to compact.
create or replace function recall._compaction_window(
    p_session    recall.sessions,
    p_settings   recall.settings,
    out o_turn   integer,
    out o_tokens bigint
)
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_stays bigint := recall._history_budget(p_session, p_settings) / 2;
begin
    with turns as (
        select h.turn_index, h.role,
               sum(h.token_count) over (order by h.turn_index desc) as from_here,
               sum(h.token_count) over () as in_all,
               count(*) filter (where h.role = 'user') over (order by h.turn_index desc)
                   as exchanges
          from recall.conversation_history as h
         where h.user_id    = p_session.user_id
           and h.session_id = p_session.session_id
           and h.created_at between p_session.created_at and p_session.last_message_at
           and h.turn_index > p_session.compacted_through_turn
           and not h.turn_index <@ p_session.retracted_turns
    )
    select t.turn_index - 1, t.in_all - t.from_here
      into o_turn, o_tokens
      from turns as t
     where t.role = 'user'
       and t.exchanges >= p_settings.compaction_keep
       and (t.from_here <= v_stays or t.exchanges = p_settings.compaction_keep)
       and t.in_all > t.from_here
     order by t.turn_index
     limit 1;
end;
$function$;

comment on function recall._compaction_window(recall.sessions, recall.settings) is
    'Last turn of a session that compaction takes, and the tokens up to it; NULL for none.';
