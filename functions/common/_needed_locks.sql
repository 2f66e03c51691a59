-- Compute the max_locks_per_transaction that holds the given numbers of locks on this server.
-- The setting sizes one lock table for all connections. An upgrade, pg_dump and an uninstall lock
-- all relations at once. The first call of a connection plans, which locks all hash partitions and
-- indexes of its tables. Later calls lock a third of them.
create or replace function recall._needed_locks(
    p_relations    integer,
    p_first        integer,
    p_installation integer default null
)
returns integer
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
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
begin
    -- PostgreSQL reserves one lock and two holders of locks for each process and unit of the
    -- setting. Connections lock the same relations, so most memory of locks is free for a third
    -- holder. Measured: 4.2 holders.
    return ceil(greatest(
        2.0 * p_relations / v_connections,
        1.0 * p_installation / v_processes,
        v_connections::numeric * (p_first - coalesce(v_own, 0))
        / (3 * v_processes + case when v_own is null then v_connections else 0 end)));
end;
$function$;

comment on function recall._needed_locks(integer, integer, integer) is
    'The max_locks_per_transaction that holds the given numbers of locks on this server.';
