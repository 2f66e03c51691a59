-- recall.health() -> one row a promise that can go wrong, with a hint
-- Reads the catalog, statistics and small tables only: as fast for a million memories as for none.
create or replace function recall.health()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
security definer
set search_path from current
as $function$
begin
    return query
    select * from recall._health_installation()
     union all
    select * from recall._health_security()
     union all
    select * from recall._health_server()
     union all
    select p.*
      from pg_catalog.pg_stat_wal as w
     cross join lateral recall._health_parameters(w.wal_bytes, w.stats_reset) as p
     union all
    select * from recall._health_integrity()
     union all
    select * from recall._health_maintenance()
     union all
    select * from recall._health_scheduler()
     union all
    select * from recall._health_replication()
     union all
    select * from recall._health_queue()
     union all
    select * from recall._health_spending()
     union all
    select * from recall._health_prompts()
     union all
    select * from recall._health_disputes()
     union all
    select * from recall._health_statements()
     union all
    select * from recall._health_recall();
end;
$function$;

comment on function recall.health() is
    'What can go wrong, each with ok, warn or fail, a detail and a remedy.';
