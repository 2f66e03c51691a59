-- recall._rows_that_fit(window, budget, settings, is_stable) -> how many of its newest rows
-- Stable: the window starts at a multiple of a step in the session's tokens, so that it stays
-- where it is while turns are appended, and a provider's prompt cache keeps hitting.
create or replace function recall._rows_that_fit(
    p_window    record,
    p_budget    bigint,
    p_settings  recall.settings,
    p_is_stable boolean
)
returns integer
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_step bigint := greatest(1, floor(p_settings.cache_stable_step * p_budget));
    v_kept integer;
    v_cut  bigint;
begin
    select count(*) into v_kept from unnest(p_window.o_cumulative) as c (tokens)
     where c.tokens <= p_budget;

    if p_is_stable and v_kept > 0
       and (p_window.o_is_cut or v_kept < cardinality(p_window.o_rows)) then
        v_cut := ceil(p_window.o_position[v_kept]::numeric / v_step) * v_step;
        select count(*)
          into v_kept
          from unnest(p_window.o_position) as p (tokens)
         where p.tokens >= v_cut;
    end if;
    return v_kept;
end;
$function$;

comment on function recall._rows_that_fit(record, bigint, recall.settings, boolean) is
    'Number of newest rows of a history window within a budget, whole exchanges only.';
