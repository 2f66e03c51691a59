-- Fit summary, task and the newest exchanges into the share of history.
-- The summary is included if it fits and turns are compacted or do not fit. The task costs extra
-- tokens while the window does not reach it. It gets at most half of the share, or all of it where
-- nothing follows, and is dropped below 32 tokens. cumulative then contains that cost.
create or replace function recall._fit_history(
    p_request recall.context_request,
    p_window  recall.history_window,
    p_summary recall.session_summaries,
    p_share   bigint
)
returns recall.history_window
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_least   constant integer := 32;
    v_frame   constant integer := (p_request.settings).tokens_per_message;
    -- In layout cache_stable the start of history moves in steps of half its budget, which do not
    -- depend on the query.
    v_step    constant real    := case when p_request.options ->> 'layout' = 'cache_stable'
                                       then 0.5 end;
    v_task    constant recall.current_task := p_window.task;
    v_given   constant bigint[] := p_window.cumulative;
    v_rows    constant integer  := cardinality(v_given);
    v_costs   bigint[];
    v_kept    integer;
    v_summary constant bigint  := case
        when p_summary.summary_id is not null
            then p_summary.token_count + 40 + v_frame end;
    v_share   bigint := p_share;
    v_whole   constant bigint := v_task.token_count + v_frame;
    v_tokens  bigint;
begin
    p_window.summary_tokens := 0;
    loop
        v_costs  := v_given;
        v_tokens := 0;
        v_kept := recall._rows_that_fit(v_given, p_window.positions, p_window.is_cut, v_share,
                                        v_step);
        if v_task.turn_index is not null and (v_task.place is null or v_kept < v_task.place) then
            v_tokens := least(v_whole, case when coalesce(v_task.place, v_rows + 1) = 1 then v_share
                                            else v_share / 2 end);
            if v_tokens < v_whole and v_tokens < v_least + v_frame then
                v_tokens := 0;
            end if;
            for i in 1 .. least(v_rows, v_task.place - 1) loop
                v_costs[i] := v_costs[i] + v_tokens;
            end loop;
            v_kept := recall._rows_that_fit(v_costs, p_window.positions, p_window.is_cut, v_share,
                                            v_step);
        end if;
        p_window.is_short := p_window.is_cut or v_kept < v_rows;
        exit when p_window.summary_tokens > 0 or v_summary is null or v_summary > p_share
                  or not (p_window.is_short or p_summary.kind = 'compaction');
        p_window.summary_tokens := v_summary;
        v_share   := p_share - v_summary;
    end loop;
    p_window.kept        := v_kept;
    p_window.task_tokens := v_tokens;
    p_window.cumulative  := v_costs;
    return p_window;
end;
$function$;

comment on function recall._fit_history(recall.context_request, recall.history_window,
    recall.session_summaries, bigint) is
    'How many of the newest rows, and how many tokens of summary and task, fit the share of '
    'history.';
