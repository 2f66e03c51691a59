-- Report server parameters that harm this schema, each with a value to set and the reason.
-- docs/operations/server-parameters.md explains them.
-- Defaults that suit a small installation are ok; size-dependent parameters are judged by the size
-- of the schema. WAL volume comes from pg_stat_wal and is judged after an hour.
create or replace function recall._health_parameters(
    p_wal_bytes numeric,
    p_wal_since timestamptz
)
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
    v_gigabyte    constant bigint  := 1024 ^ 3;
    v_connections constant integer := current_setting('max_connections')::integer;
    v_work        constant bigint  := pg_size_bytes(current_setting('work_mem'));
    v_seconds     constant float8  := extract(epoch from clock_timestamp() - p_wal_since);
    -- WAL between two checkpoints that are started by time alone.
    v_wal         constant float8  := case when v_seconds >= 3600 then p_wal_bytes / v_seconds
        * extract(epoch from current_setting('checkpoint_timeout')::interval) end;
    v_data        bigint;
begin
    select sum(c.relpages::bigint) * current_setting('block_size')::integer
      into v_data
      from pg_catalog.pg_class as c
     where c.relnamespace = 'recall'::regnamespace
       and c.relkind = any ('{r,i}');

    return query
    with harmful (parameter, recommended, reason) as (
        select p.parameter, p.recommended, p.reason
          from (
                values ('plan_cache_mode', 'auto',
                        'each function chooses by itself where plans are cached',
                        current_setting('plan_cache_mode') <> 'auto'),
                       ('shared_buffers', format('%sGB', greatest(1, v_data / 4 / v_gigabyte)),
                        format('the schema has %s; a quarter of the memory is usual',
                               pg_size_pretty(v_data)),
                        v_data >= 8 * v_gigabyte
                        and pg_size_bytes(current_setting('shared_buffers')) < v_gigabyte),
                       ('work_mem', '4MB', 'a search sorts and hashes the memories of a user',
                        v_work < 1024 ^ 2),
                       ('work_mem', '64MB',
                        format('%s connections may take it several times over', v_connections),
                        v_work > 64 * 1024 ^ 2
                        and v_work * v_connections
                            > 4 * pg_size_bytes(current_setting('effective_cache_size'))),
                       ('maintenance_work_mem', '64MB',
                        'vacuum reads indexes again and again, and building them takes long',
                        pg_size_bytes(current_setting('maintenance_work_mem')) < 16 * 1024 ^ 2),
                       ('max_wal_size', format('%sMB', ceil(3 * v_wal / 1024 ^ 2)),
                        format('%s of WAL between two checkpoints force more of them',
                               pg_size_pretty(v_wal::bigint)),
                        v_wal > pg_size_bytes(current_setting('max_wal_size')) / 2),
                       ('max_connections', '500',
                        'each connection keeps plans of its own: use a pooler',
                        v_connections > 1000),
                       ('statement_timeout', '5s', 'maintenance and large imports take longer',
                        current_setting('statement_timeout')::interval > interval '0'
                        and current_setting('statement_timeout')::interval < interval '1 second'),
                       ('autovacuum_naptime', '1min', 'the sweeps live on vacuumed indexes',
                        current_setting('autovacuum_naptime')::interval > interval '5 minutes')
               ) as p (parameter, recommended, reason, is_harmful)
         where p.is_harmful
         union all
        select s.parameter, 'on', 'searches and sweeps are planned with it'
          from unnest('{enable_partition_pruning,enable_indexscan,enable_indexonlyscan,'
                      'enable_hashjoin,enable_nestloop,enable_sort}'::text[]) as s (parameter)
         where current_setting(s.parameter) = 'off'
    )
    select 'parameters', case when count(*) > 0 then 'warn' else 'ok' end,
           coalesce(string_agg(format('%s is %s, better %s: %s', h.parameter,
                                      current_setting(h.parameter), h.recommended, h.reason), '; '
                               order by h.parameter),
                    'no server parameter harms the schema'),
           string_agg(format('alter system set %s = %L;', h.parameter, h.recommended), ' '
                      order by h.parameter)
           || ' select pg_reload_conf();'
           || case when bool_or(h.parameter in ('shared_buffers', 'max_connections'))
                   then ' And restart.' else '' end
           || ' Or change it where the role or the database sets it.'
      from harmful as h;
end;
$function$;

comment on function recall._health_parameters(numeric, timestamptz) is
    'Health of server parameters: harmful values, what to set, and why.';
