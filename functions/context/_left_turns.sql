-- List the turns that a context leaves out, and pin the current task.
-- summarized: covered by the summary. budget: does not fit. expired: dropped by retention.
-- unanswered, uncalled: calls without answers and answers without calls, from the window.
-- shortened: the middle of the task. Retracted turns are not part of the conversation.
create or replace function recall._left_turns(
    p_request         recall.context_request,
    p_window          recall.history_window,
    p_kept            integer,
    p_summarized      integer,
    out o_left_out    jsonb,
    out o_truncated   boolean,
    out o_pinned      jsonb[],
    out o_pinned_id   uuid[],
    out o_pinned_turn integer
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_session constant recall.sessions := p_request.session;
    v_task    constant recall.current_task := p_window.task;
    v_room    constant bigint  := p_window.task_tokens - (p_request.settings).tokens_per_message;
    v_is_cut  constant boolean := p_window.is_cut or p_kept < cardinality(p_window.cumulative);
    v_end     constant integer := coalesce(
        p_window.turns[p_kept] - 1,
        least(v_session.turn_count, (p_request.options ->> 'through_turn')::integer));
    v_gone    constant integer := least(v_end, v_session.first_retained_turn - 1);
    v_left    constant integer := case when v_is_cut then v_end
                                       else least(p_window.after_turn, v_end) end;
    v_text    text;
begin
    if p_window.task_tokens > 0 and p_kept < coalesce(v_task.place, p_kept + 1) then
        o_pinned_turn := v_task.turn_index;
        o_pinned_id   := case when strpos(v_task.message::text, 'sealed:v1:') > 0
                              then array[v_task.message_id] end;
        -- A long task loses the middle of its text, and images and files. A ciphertext stays whole;
        -- the driver shortens the plaintext.
        o_pinned := array[v_task.message];
        if v_room < v_task.token_count then
            v_text := recall._content_text(
                case when jsonb_typeof(v_task.message -> 'content') = 'string'
                     then v_task.message ->> 'content' end,
                case when jsonb_typeof(v_task.message -> 'content') = 'array'
                     then v_task.message -> 'content' end);
            if starts_with(v_text, 'sealed:v1:') is not true then
                o_pinned := array[v_task.message - 'name' || jsonb_build_object(
                    'content', recall._shortened_text(v_text, v_room))];
            end if;
        end if;
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
               - v_session.retracted_turns
               - case when o_pinned_turn is null then '{}'
                      else int4multirange(int4range(o_pinned_turn, o_pinned_turn, '[]')) end
           ) as p (part);

    if p_window.left_out <> '[]' then
        select o_left_out
               || coalesce(jsonb_agg(l.part order by (l.part ->> 'from_turn')::integer), '[]')
          into o_left_out
          from jsonb_array_elements(p_window.left_out) as l (part)
         where (l.part ->> 'to_turn')::integer > v_left;
    end if;
    if o_pinned_turn is not null and v_room < v_task.token_count then
        o_left_out := o_left_out || jsonb_build_object(
            'from_turn', o_pinned_turn, 'to_turn', o_pinned_turn, 'reason', 'shortened',
            'tokens', v_room);
    end if;
    o_truncated := v_is_cut
                   or o_left_out @? '$[*] ? (@.reason != "summarized" && @.reason != "expired")';
end;
$function$;

comment on function recall._left_turns(recall.context_request, recall.history_window, integer,
    integer) is
    'Turns that a context leaves out (from_turn, to_turn, reason, tool_call_ids, tokens), and the '
    'current task where history does not reach it.';
