-- Return the last run of each enabled task, and the number of missing months.
create or replace function recall._metrics_maintenance()
returns table (
    name   text,
    value  double precision,
    labels jsonb
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now timestamptz := clock_timestamp();
begin
    return query
    select m.name, m.value::float8, jsonb_build_object('task', t.task)
      from recall.maintenance_tasks as t
     cross join lateral (
            values ('pgrecall_maintenance_age_seconds', extract(epoch from v_now - t.last_run_at)),
                   ('pgrecall_maintenance_failures', t.failures),
                   ('pgrecall_maintenance_seconds', (t.last_result ->> 'ms')::numeric / 1000),
                   ('pgrecall_maintenance_done', (t.last_result ->> 'done')::numeric)
           ) as m (name, value)
     where t.enabled
       and m.value is not null;
    return query
    select 'pgrecall_missing_months', v.value::float8, jsonb_build_object('month', v.month)
      from recall._missing_months(v_now) as m
     cross join lateral (values ('this', m.o_this), ('next', m.o_next)) as v (month, value);
end;
$function$;

comment on function recall._metrics_maintenance() is
    'Metrics of maintenance: each task''s last run, result, duration and failures; missing '
    'months.';
