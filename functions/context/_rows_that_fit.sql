-- Count the rows of a history window that fit a budget.
-- With p_step, a share of the budget, the window starts at a multiple of it in the session's
-- tokens. It then stays in place while turns are appended, and the provider's prompt cache keeps
-- hitting.
create or replace function recall._rows_that_fit(
    p_cumulative bigint[],
    p_position   bigint[],
    p_is_cut     boolean,
    p_budget     bigint,
    p_step       real
)
returns integer
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_step bigint := greatest(1, floor(p_step * p_budget));
    v_kept integer;
    v_cut  bigint;
begin
    -- p_cumulative ascends, so width_bucket counts its elements within the budget.
    v_kept := coalesce(width_bucket(p_budget, p_cumulative), 0);
    if p_step is not null and v_kept > 0
       and (p_is_cut or v_kept < cardinality(p_cumulative)) then
        v_cut := ceil(p_position[v_kept]::numeric / v_step) * v_step;
        select count(*)
          into v_kept
          from unnest(p_position) as p (tokens)
         where p.tokens >= v_cut;
    end if;
    return v_kept;
end;
$function$;

comment on function recall._rows_that_fit(bigint[], bigint[], boolean, bigint, real) is
    'Number of newest rows of a history window within a budget, whole exchanges only.';
