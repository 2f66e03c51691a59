-- Report durability, locks, autovacuum and vacuum.
-- The indexes of the sweeps and HOT updates depend on vacuum, which is late at twice the threshold
-- of autovacuum.
create or replace function recall._health_server()
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
declare
    v_off text[];
begin
    v_off := array(
        select s
          from unnest('{fsync,full_page_writes,synchronous_commit}'::text[]) as s
         where current_setting(s) = 'off');
    return query
    select 'durability', case when v_off = '{}' then 'ok' else 'warn' end,
           case when v_off = '{}' then 'an acknowledged write survives a crash'
                else format('a crash may lose acknowledged writes: %s = off',
                            array_to_string(v_off, ' = off, ')) end,
           case when v_off <> '{}'
                then format('alter system set %s = on; select pg_reload_conf();',
                            array_to_string(v_off, ' = on; alter system set ')) end;

    return query
    select * from recall._health_locks();

    return query
    select 'autovacuum', case when s.is_on then 'ok' else 'warn' end,
           case when s.is_on then 'autovacuum is on' else 'autovacuum is off' end,
           case when not s.is_on
                then 'alter system set autovacuum = on; alter system set track_counts = on; '
                     'select pg_reload_conf();' end
      from (
            select current_setting('autovacuum')::boolean
                   and current_setting('track_counts')::boolean as is_on
           ) as s;

    return query
    select 'vacuum', case when count(*) > 0 then 'warn' else 'ok' end,
           case when count(*) > 0
                then format('dead rows: %s', string_agg(
                         format('%s %s', t.relname, t.dead), ', ' order by t.dead desc))
                else 'autovacuum keeps pace' end,
           case when count(*) > 0
                then 'Look for old transactions in pg_stat_activity, raise '
                     'autovacuum_max_workers or lower autovacuum_vacuum_cost_delay; now: '
                     || string_agg(format('vacuum (analyze) recall.%I;', t.relname), ' '
                                   order by t.dead desc) end
      from (
            select c.relname, pg_stat_get_dead_tuples(c.oid) as dead
              from pg_catalog.pg_class as c
             where c.relnamespace = 'recall'::regnamespace
               and c.relkind = 'r'
               and pg_stat_get_dead_tuples(c.oid) > 10000 + 0.4 * greatest(
                       pg_stat_get_live_tuples(c.oid), c.reltuples::bigint)
             order by dead desc
             limit 5
           ) as t;
end;
$function$;

comment on function recall._health_server() is
    'Health of the server: settings that lose writes or exhaust the lock table, and vacuum.';
