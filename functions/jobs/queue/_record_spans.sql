-- Store the spans of a job, and add their cost to the spending of the user and of the day.
-- It adds to any free row of the day's totals, so that no open transaction holds up another one.
-- Locks   the user's row of the day, one of the day's totals.
create or replace function recall._record_spans(
    p_spans recall.job_phases[]
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_day   constant date    := clock_timestamp() at time zone 'UTC';
    v_shard smallint;
    v_user  constant uuid    := p_spans[1].user_id;
    v_cost  bigint  := 0;
    v_span  recall.job_phases;
begin
    begin
        insert into recall.job_phases
        select s.* from unnest(p_spans) as s;
    exception when check_violation then
        -- The values were checked before, so the violation is that the month has no partition.
        perform recall._ensure_month('recall.job_phases', s.created_at, true)
           from unnest(p_spans) as s;
        insert into recall.job_phases
        select s.* from unnest(p_spans) as s;
    end;

    foreach v_span in array coalesce(p_spans, '{}'::recall.job_phases[]) loop
        v_cost := v_cost + coalesce(v_span.cost_microcents, 0);
    end loop;
    if v_cost = 0 then
        return;
    end if;
    insert into recall.model_spending as m (user_id, day, cost_microcents)
    values (v_user, v_day, v_cost)
    on conflict (user_id, day) do update
       set cost_microcents = m.cost_microcents + excluded.cost_microcents;

    select t.shard
      into v_shard
      from recall.model_spending_totals as t
     where t.day = v_day
     limit 1
       for no key update skip locked;
    if not found then
        v_shard := floor(random() * 32768);
    end if;
    insert into recall.model_spending_totals as t (day, shard, cost_microcents)
    values (v_day, v_shard, v_cost)
    on conflict (day, shard) do update
       set cost_microcents = t.cost_microcents + excluded.cost_microcents;
end;
$function$;

comment on function recall._record_spans(recall.job_phases[]) is
    'Store the spans of a job and add their cost to the spending; call it last in the transaction.';
