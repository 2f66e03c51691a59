-- recall._fit_history(window…, summary, share, step) -> (rows kept, summary tokens, is it short?)
-- Summary and history share: the summary is needed when something is compacted or does not fit,
-- and left out when it does not fit itself.
create or replace function recall._fit_history(
    p_cumulative         bigint[],
    p_position           bigint[],
    p_is_cut             boolean,
    p_summary            recall.session_summaries,
    p_share              bigint,
    p_step               real,
    p_tokens_per_message integer,
    out o_kept           integer,
    out o_summary        bigint,
    out o_is_short       boolean
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    o_summary  := 0;
    o_kept     := recall._rows_that_fit(p_cumulative, p_position, p_is_cut, p_share, p_step);
    o_is_short := p_is_cut or o_kept < cardinality(p_cumulative);

    if p_summary.summary_id is not null and (p_summary.kind = 'compaction' or o_is_short)
       and p_summary.token_count + 40 + p_tokens_per_message <= p_share then
        o_summary  := p_summary.token_count + 40 + p_tokens_per_message;
        o_kept     := recall._rows_that_fit(p_cumulative, p_position, p_is_cut,
                                            p_share - o_summary, p_step);
        o_is_short := p_is_cut or o_kept < cardinality(p_cumulative);
    end if;
end;
$function$;

comment on function recall._fit_history(bigint[], bigint[], boolean, recall.session_summaries,
    bigint, real, integer) is
    'How many of the newest rows and whether the summary fit history''s share of the budget.';
