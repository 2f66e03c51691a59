-- Report unfinished data changes of upgrades, and the error of the last batch.
create or replace function recall._health_backfills()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select 'backfills',
           case when count(b.backfill) = 0 then 'ok'
                when bool_or(t.last_result ? 'error') then 'fail'
                when bool_and(t.enabled) then 'ok'
                else 'warn' end,
           coalesce(string_agg(format('%s of %s: %s of about %s rows', b.backfill, b.migration,
                                      b.rows_done, greatest(b.rows_done, e.rows_)), '; '
                               order by b.migration, b.backfill)
                    || coalesce('; ' || min(t.last_result ->> 'error'), ''),
                    'no upgrade left data to change'),
           case when count(b.backfill) = 0 then null
                when bool_or(t.last_result ? 'error')
                then 'Mend what it says, then: select recall.run_maintenance(''run_backfills'');'
                when not coalesce(bool_and(t.enabled), false)
                then 'select recall.configure_maintenance(''run_backfills'', '
                     '''{"enabled": true}'');' end
      from recall.backfills as b
      left join recall.maintenance_tasks as t on t.task = 'run_backfills'
     cross join lateral (
            select sum(greatest(c.reltuples, 0))::bigint
              from recall._leaf_tables(to_regclass(format('recall.%I', b.table_name))) as p
              join pg_catalog.pg_class as c on c.oid = p.relid
           ) as e (rows_)
     where b.finished_at is null;
end;
$function$;

comment on function recall._health_backfills() is
    'Health of backfills: progress and the last error of data changes that upgrades left to '
    'maintenance.';
