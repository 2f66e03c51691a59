-- List the turns that a context leaves out, and pin the current task.
-- summarized: covered by the summary. budget: does not fit. expired: dropped by retention.
-- unanswered, uncalled: calls without answers and answers without calls, from the window.
-- shortened: the middle of the task. Retracted turns are not part of the conversation.
create or replace function recall._left_turns(
    p_session            recall.sessions,
    p_after              integer,
    p_through            integer,
    p_is_cut             boolean,
    p_summarized         integer,
    p_first_turn         integer,
    p_task               recall.current_task,
    p_kept               integer,
    p_task_tokens        bigint,
    p_tokens_per_message integer,
    p_left               jsonb,
    out o_left_out       jsonb,
    out o_truncated      boolean,
    out o_pinned         jsonb[],
    out o_pinned_id      uuid[],
    out o_pinned_turn    integer
)
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_end  constant integer := coalesce(
        p_first_turn - 1, least(p_session.turn_count, p_through));
    v_gone constant integer := least(v_end, p_session.first_retained_turn - 1);
    v_left constant integer := case when p_is_cut then v_end else least(p_after, v_end) end;
begin
    if p_task_tokens > 0 and p_kept < coalesce(p_task.place, p_kept + 1) then
        o_pinned_turn := p_task.turn_index;
        o_pinned_id   := case when strpos(p_task.message::text, 'sealed:v1:') > 0
                              then array[p_task.message_id] end;
        o_pinned      := array[recall._task_message(p_task, p_task_tokens, p_tokens_per_message)];
    end if;

    with ranges as (
        select 'summarized' as reason, 1 as from_turn,
               least(coalesce(p_summarized, 0), v_left) as to_turn
         union all
        select 'expired', coalesce(p_summarized, 0) + 1, v_gone
         union all
        select 'budget', greatest(p_summarized, v_gone, 0) + 1, v_left
    )
    select coalesce(jsonb_agg(jsonb_build_object(
               'from_turn', lower(p.part), 'to_turn', upper(p.part) - 1, 'reason', r.reason)
               order by lower(p.part)), '[]')
      into o_left_out
      from ranges as r
     cross join lateral unnest(
               int4multirange(int4range(r.from_turn, greatest(r.from_turn, r.to_turn + 1)))
               - p_session.retracted_turns
               - case when o_pinned_turn is null then '{}'
                      else int4multirange(int4range(o_pinned_turn, o_pinned_turn, '[]')) end
           ) as p (part);

    if p_left <> '[]' then
        select o_left_out
               || coalesce(jsonb_agg(l.part order by (l.part ->> 'from_turn')::integer), '[]')
          into o_left_out
          from jsonb_array_elements(p_left) as l (part)
         where (l.part ->> 'to_turn')::integer > v_left;
    end if;
    if o_pinned_turn is not null and p_task_tokens < p_task.token_count + p_tokens_per_message then
        o_left_out := o_left_out || jsonb_build_object(
            'from_turn', o_pinned_turn, 'to_turn', o_pinned_turn, 'reason', 'shortened',
            'tokens', p_task_tokens - p_tokens_per_message);
    end if;
    o_truncated := p_is_cut
                   or o_left_out @? '$[*] ? (@.reason != "summarized" && @.reason != "expired")';
end;
$function$;

comment on function recall._left_turns(recall.sessions, integer, integer, boolean, integer, integer,
    recall.current_task, integer, bigint, integer, jsonb) is
    'Turns that a context leaves out (from_turn, to_turn, reason, tool_call_ids, tokens), and the '
    'current task where history does not reach it.';
