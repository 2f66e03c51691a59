-- Fit summary, task and the newest exchanges into the share of history.
-- The summary is included if it fits and turns are compacted or do not fit. The task costs extra
-- tokens while the window does not reach it. It gets at most half of the share, or all of it where
-- nothing follows, and is dropped below 32 tokens. o_cumulative contains that cost.
create or replace function recall._fit_history(
    p_cumulative         bigint[],
    p_position           bigint[],
    p_is_cut             boolean,
    p_summary            recall.session_summaries,
    p_share              bigint,
    p_step               real,
    p_tokens_per_message integer,
    p_task               recall.current_task,
    out o_kept           integer,
    out o_summary        bigint,
    out o_is_short       boolean,
    out o_task           bigint,
    out o_cumulative     bigint[]
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_least   constant integer := 32;
    v_summary constant bigint  := case
        when p_summary.summary_id is not null
            then p_summary.token_count + 40 + p_tokens_per_message end;
    v_share   bigint := p_share;
    v_whole   bigint := p_task.token_count + p_tokens_per_message;
begin
    o_summary := 0;
    loop
        o_cumulative := p_cumulative;
        o_task       := 0;
        o_kept := recall._rows_that_fit(p_cumulative, p_position, p_is_cut, v_share, p_step);
        if p_task.turn_index is not null and (p_task.place is null or o_kept < p_task.place) then
            o_task := least(v_whole, case when coalesce(p_task.place, cardinality(p_cumulative) + 1)
                                               = 1 then v_share else v_share / 2 end);
            if o_task < v_whole and o_task < v_least + p_tokens_per_message then
                o_task := 0;
            end if;
            for i in 1 .. least(cardinality(p_cumulative), p_task.place - 1) loop
                o_cumulative[i] := o_cumulative[i] + o_task;
            end loop;
            o_kept := recall._rows_that_fit(o_cumulative, p_position, p_is_cut, v_share, p_step);
        end if;
        o_is_short := p_is_cut or o_kept < cardinality(p_cumulative);
        exit when o_summary > 0 or v_summary is null or v_summary > p_share
                  or not (o_is_short or p_summary.kind = 'compaction');
        o_summary := v_summary;
        v_share   := p_share - v_summary;
    end loop;
end;
$function$;

comment on function recall._fit_history(bigint[], bigint[], boolean, recall.session_summaries,
    bigint, real, integer, recall.current_task) is
    'How many of the newest rows, and how many tokens of summary and task, fit the share of '
    'history.';
