-- Report whether max_locks_per_transaction holds the locks of first calls and of an upgrade.
-- It sizes one lock table for all connections. An upgrade, pg_dump and an uninstall lock every
-- table and index of the schema at once. The first call of a connection plans, which locks all hash
-- partitions and indexes of its tables. Later calls lock a third of them.
create or replace function recall._health_locks()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_locks       constant integer := current_setting('max_locks_per_transaction')::integer;
    v_connections constant integer := current_setting('max_connections')::integer
        + current_setting('max_prepared_transactions')::integer;
    -- Other processes have a share of the table: autovacuum, workers, senders of WAL.
    v_processes   constant integer := v_connections
        + coalesce(current_setting('autovacuum_worker_slots', true),
                   current_setting('autovacuum_max_workers'))::integer
        + current_setting('max_worker_processes')::integer
        + current_setting('max_wal_senders')::integer;
    -- Locks that a process keeps outside of the table: 16 until PostgreSQL 17, the setting since.
    v_own         constant integer := case when current_setting('server_version_num')::integer
        < 180000 then 16 end;
    v_tables      constant oid[]   := '{recall.users,recall.sessions,recall.session_summaries,'
        'recall.memory_store,recall.memory_embedding,recall.message_search}'::regclass[]::oid[];
    v_relations   integer;
    v_first       integer;
    v_needed      integer;
begin
    select count(*)
      into v_relations
      from pg_catalog.pg_class as c
     where c.relnamespace = 'recall'::regnamespace
       and c.relkind = any ('{r,p,i,I}');

    -- The largest call of a turn, compile_context with recalled turns, locks these tables with all
    -- partitions and indexes, and 14 other relations. Months are pruned.
    with tables as (
        select t.id from unnest(v_tables) as t (id)
         union all
        select i.inhrelid from pg_catalog.pg_inherits as i where i.inhparent = any (v_tables)
    )
    select 16 + (select count(*) from tables as t)
           + (select count(*)
                from pg_catalog.pg_index as i
                join tables as t on t.id = i.indrelid)
      into v_first;

    -- PostgreSQL reserves one lock and two holders of locks for each process and unit of the
    -- setting. Connections lock the same relations, so most memory of locks is free for a third
    -- holder. Measured: 4.2 holders.
    v_needed := ceil(greatest(
        2.0 * v_relations / v_connections,
        v_connections::numeric * (v_first - coalesce(v_own, 0))
        / (3 * v_processes + case when v_own is null then v_connections else 0 end)));

    return query
    select 'locks', case when v_needed > v_locks then 'warn' else 'ok' end,
           format('%s tables and indexes; the first calls of %s connections lock up to %s each; '
                  'max_locks_per_transaction = %s suffices, %s is set',
                  v_relations, v_connections, v_first, v_needed, v_locks),
           case when v_needed > v_locks
                then format('alter system set max_locks_per_transaction = %s; and restart.',
                            32 * ((v_needed + 31) / 32)) end;
end;
$function$;

comment on function recall._health_locks() is
    'Health of the lock table: whether it holds the locks of first calls and of an upgrade.';
