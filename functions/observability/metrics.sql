-- Return gauges in Prometheus naming for all users together, without users, texts or ids.
-- Counts of large tables are estimates of the planner and the statistics collector, so the cost of
-- a scrape does not depend on size. Rates cover the last day. pgrecall_health is 0 for ok, 1 for
-- warn and 2 for fail.
create or replace function recall.metrics()
returns table (
    name   text,
    value  double precision,
    labels jsonb
)
language plpgsql
stable
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    with checks as materialized (
        select h.name, h.status from recall.health() as h
    )
    select 'pgrecall_info', 1::float8, jsonb_build_object('version', recall.version())
     union all
    select 'pgrecall_health_checks', count(*)::float8, jsonb_build_object('status', c.status)
      from checks as c
     group by c.status
     union all
    select 'pgrecall_health', array_position('{ok,warn,fail}'::text[], c.status) - 1,
           jsonb_build_object('check', c.name)
      from checks as c
     union all
    select * from recall._metrics_queue()
     union all
    select * from recall._metrics_migration()
     union all
    select * from recall._metrics_work()
     union all
    select * from recall._metrics_memory()
     union all
    select * from recall._metrics_storage()
     union all
    select * from recall._metrics_maintenance()
     union all
    select * from recall._metrics_server();
end;
$function$;

comment on function recall.metrics() is
    'Gauges for Prometheus or Grafana, over all users: queue, a change of the embedding model, '
    'work and cost of the last day, memories, storage, maintenance, connections, standby lag. '
    'Counts of large tables are estimates. pgrecall_health is 0 for ok, 1 for warn, 2 for fail.';
