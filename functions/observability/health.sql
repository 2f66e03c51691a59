-- Return one row for each health check, with a hint.
-- Reads the catalog, statistics, small tables and a bounded number of users, so the cost does not
-- depend on the number of memories.
create or replace function recall.health()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    -- While a node of a cluster is away, no other check can count its rows.
    for name, status, detail, hint in select * from recall._health_nodes() loop
        return next;
        if status = 'fail' then
            return;
        end if;
    end loop;

    return query
    select * from recall._health_installation()
     union all
    select * from recall._health_search_path()
     union all
    select * from recall._health_extensions()
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
    select * from recall._health_backfills()
     union all
    select * from recall._health_scheduler()
     union all
    select * from recall._health_replication()
     union all
    select * from recall._health_queue()
     union all
    select * from recall._health_embedding_model()
     union all
    select * from recall._health_spending()
     union all
    select * from recall._health_prompts()
     union all
    select * from recall._health_disputes()
     union all
    select * from recall._health_orphans()
     union all
    select * from recall._health_statements()
     union all
    select * from recall._health_recall();
end;
$function$;

comment on function recall.health() is
    'One row for each check: ok, warn or fail, a detail and a remedy. The cost does not depend on '
    'the number of memories.';
