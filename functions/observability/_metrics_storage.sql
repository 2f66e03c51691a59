-- Return size, rows, dead rows and HOT updates of each table, summed over its partitions.
create or replace function recall._metrics_storage()
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
begin
    return query
    with leaves as materialized (
        select coalesce(pg_partition_root(c.oid), c.oid) as root, c.oid
          from pg_catalog.pg_class as c
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind = 'r'
    ), tables as (
        select r.relname, sum(pg_total_relation_size(l.oid)) as bytes,
               sum(pg_stat_get_live_tuples(l.oid)) as live,
               sum(pg_stat_get_dead_tuples(l.oid)) as dead,
               sum(pg_stat_get_tuples_updated(l.oid)) as updated,
               sum(pg_stat_get_tuples_hot_updated(l.oid)) as hot
          from leaves as l
          join pg_catalog.pg_class as r on r.oid = l.root
         group by r.relname
    )
    select m.name, m.value::float8, jsonb_build_object('table', t.relname)
      from tables as t
     cross join lateral (
            values ('pgrecall_table_bytes', t.bytes),
                   ('pgrecall_table_rows_estimate', t.live),
                   ('pgrecall_table_dead_rows', t.dead),
                   ('pgrecall_table_hot_update_ratio', t.hot / nullif(t.updated, 0))
           ) as m (name, value)
     where m.value is not null;
end;
$function$;

comment on function recall._metrics_storage() is
    'Metrics of storage: bytes, rows, dead rows and share of HOT updates by table.';
