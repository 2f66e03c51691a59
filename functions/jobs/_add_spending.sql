-- Add the cost of a job's spans to the spending of the user and of the day.
-- Call it last in the transaction: other jobs of the same shard wait from here to its commit.
-- Locks   the user's row of the day, one of the day's totals.
create or replace function recall._add_spending(
    p_phases recall.job_phases[]
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_day   date   := clock_timestamp() at time zone 'UTC';
    v_shard integer := pg_backend_pid() % 64;
    v_cost  bigint;
begin
    select sum(p.cost_microcents) into v_cost from unnest(p_phases) as p;
    if coalesce(v_cost, 0) = 0 then
        return;
    end if;

    insert into recall.model_spending as m (user_id, day, cost_microcents)
    values (p_phases[1].user_id, v_day, v_cost)
    on conflict (user_id, day) do update
       set cost_microcents = m.cost_microcents + excluded.cost_microcents;

    insert into recall.model_spending_totals as t (day, shard, cost_microcents)
    values (v_day, v_shard, v_cost)
    on conflict (day, shard) do update
       set cost_microcents = t.cost_microcents + excluded.cost_microcents;
end;
$function$;

comment on function recall._add_spending(recall.job_phases[]) is
    'Add the cost of a job''s spans to what the user and all users have spent today (UTC).';
