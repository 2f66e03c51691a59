-- Return the active turns of a session, and whether an exchange ends after each.
-- An exchange is one message, or tool calls with all of their answers and the turns in between. It
-- stays open while the newest calls may still be answered (settings.answer_within_turns). Older
-- calls without an answer count as abandoned. cost is the tokens that the turn takes in a context.
create or replace function recall._exchange_borders(
    p_session  recall.sessions,
    p_settings recall.settings
)
returns table (
    turn_index  integer,
    is_user     boolean,
    token_count integer,
    cost        bigint,
    is_border   boolean
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return query
    with turns as materialized (
        select h.turn_index, h.role, h.token_count, h.tool_calls, h.tool_call_id
          from recall.conversation_history as h
         where h.user_id    = p_session.user_id
           and h.session_id = p_session.session_id
           and h.created_at between p_session.created_at and p_session.last_message_at
           and h.turn_index > p_session.compacted_through_turn
           and not h.turn_index <@ p_session.retracted_turns
           and recall._is_shown(h.content_parts, h.tool_calls, h.tool_call_id)
    ), events as (
        select t.turn_index, c.call ->> 'id' as id, true as is_call
          from turns as t
         cross join lateral jsonb_array_elements(t.tool_calls) as c (call)
         where t.tool_calls is not null
         union all
        select t.turn_index, t.tool_call_id, false
          from turns as t
         where t.role = 'tool'
    ), spans as (
        -- An answer closes the call before it; another call with the same id abandons it.
        select e.turn_index, e.is_call,
               lead(e.turn_index) over calls as next_turn,
               lead(e.is_call) over calls as next_is_call
          from events as e
        window calls as (partition by e.id order by e.turn_index)
    ), newest as (
        select max(e.turn_index) filter (where e.is_call) as call_turn
          from events as e
    ), awaited as (
        -- The newest calls: those after the last answer that precedes the newest call.
        select min(s.turn_index) as turn_index
          from spans as s
         cross join newest as n
         where s.is_call
           and s.next_turn is null
           and s.turn_index > p_session.turn_count - p_settings.answer_within_turns
           and s.turn_index > coalesce((
                   select max(e.turn_index)
                     from events as e
                    where not e.is_call
                      and e.turn_index < n.call_turn), 0)
    ), moves as (
        select m.turn_index, sum(m.step) as step
          from (
                select s.turn_index, 1 as step
                  from spans as s
                 where s.is_call and not s.next_is_call
                 union all
                select s.next_turn, -1
                  from spans as s
                 where s.is_call and not s.next_is_call
                 union all
                select a.turn_index, 1
                  from awaited as a
                 where a.turn_index is not null
               ) as m (turn_index, step)
         group by m.turn_index
    )
    select t.turn_index, t.role = 'user', t.token_count,
           t.token_count::bigint + p_settings.tokens_per_message
               + coalesce(octet_length(t.tool_call_id), 0),
           sum(coalesce(m.step, 0)) over (order by t.turn_index) = 0
      from turns as t
      left join moves as m on m.turn_index = t.turn_index;
end;
$function$;

comment on function recall._exchange_borders(recall.sessions, recall.settings) is
    'Active turns of a session with their tokens, and whether an exchange ends after each.';
