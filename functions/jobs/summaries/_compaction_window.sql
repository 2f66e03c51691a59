-- Choose the last turn that a compaction summarizes.
-- The turns after it take at most half of the history budget, or are one exchange within that
-- budget. The last settings.compaction_keep user turns stay too if they are below the compaction
-- threshold. Above it they would be cut from the context without a summary.
create or replace function recall._compaction_window(
    p_session    recall.sessions,
    p_settings   recall.settings,
    out o_turn   integer,
    out o_tokens bigint
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_budget constant bigint := recall._history_budget(p_session, p_settings);
    v_limit  constant bigint := p_settings.compaction_threshold::numeric * v_budget;
begin
    with turns as materialized (
        select b.turn_index, b.is_border,
               sum(b.token_count) over (order by b.turn_index) as through,
               sum(b.cost) over newer - b.cost as after_cost,
               count(*) filter (where b.is_user) over newer - b.is_user::integer as after_users,
               count(*) filter (where b.is_border) over newer as borders
          from (
                select * from recall._exchange_borders(p_session, p_settings)
                 union all
                select p_session.compacted_through_turn, false, 0, 0, true
               ) as b
        window newer as (order by b.turn_index desc)
    ), kept as (
        select coalesce(
                   max(t.turn_index) filter (where t.after_users >= p_settings.compaction_keep),
                   min(t.turn_index)) as turn_index
          from turns as t
         where t.is_border
    ), chosen as (
        select coalesce(
                   min(t.turn_index) filter (
                       where t.after_cost <= v_budget / 2
                          or t.after_cost <= v_budget and t.borders = 2
                          or t.after_cost <= v_limit and t.turn_index = k.turn_index),
                   max(t.turn_index)) as turn_index
          from turns as t
         cross join kept as k
         where t.is_border
    )
    select t.turn_index, t.through
      into o_turn, o_tokens
      from turns as t
      join chosen as c on c.turn_index = t.turn_index
     where t.turn_index > p_session.compacted_through_turn;
end;
$function$;

comment on function recall._compaction_window(recall.sessions, recall.settings) is
    'Last turn of a session that a compaction summarizes, and the tokens up to it; NULL when there '
    'is none.';
