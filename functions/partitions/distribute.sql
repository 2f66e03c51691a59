-- Distribute the tables over the nodes of a Citus cluster, and calls to the node of their user.
-- It needs an installation with recall.hash_partitions = 0. Repeatable: tables that are distributed
-- stay as they are, functions follow the installed release. Call it again after an upgrade.
-- Raises  RC003 bad number of shards, RC007 no superuser, no Citus, or tables with hash partitions.
create or replace function recall.distribute(
    p_shard_count integer default 32
)
returns table (table_count integer, function_count integer)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_shard_count is null or p_shard_count not between 1 and 1024 then
        raise exception using
            errcode = 'RC003',
            message = format('p_shard_count is %s', coalesce(p_shard_count::text, 'null')),
            hint    = 'Pass 1 to 1024.';
    end if;
    if not (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = current_user) then
        raise exception using
            errcode = 'RC007',
            message = format('%I may not distribute the tables', current_user),
            hint    = 'Call it as a superuser.';
    end if;
    if not exists (select from pg_catalog.pg_extension as e where e.extname = 'citus') then
        raise exception using
            errcode = 'RC007',
            message = 'extension citus is not installed in this database',
            hint    = 'On each node: create extension citus; on the coordinator, too: select '
                      'citus_set_coordinator_host(…); select citus_add_node(…);';
    end if;
    if (select s.hash_partitions from recall.settings as s) <> 0 then
        raise exception using
            errcode = 'RC007',
            message = 'the tables have hash partitions, which Citus cannot distribute',
            hint    = 'Install with recall.hash_partitions = 0 into a new database.';
    end if;

    perform set_config('citus.enable_unsafe_triggers', 'on', true),
            set_config('citus.multi_shard_modify_mode', 'sequential', true),
            set_config('citus.enable_ddl_propagation', 'on', true),
            set_config('client_min_messages', 'warning', true);

    -- A worker may not create a month: those of the last year are made here.
    for v_month in reverse 12 .. 0 loop
        perform recall.ensure_partitions(
            p_as_of => clock_timestamp() - make_interval(months => v_month));
    end loop;

    table_count    := recall._distribute_tables(p_shard_count);
    function_count := recall._distribute_functions();
    return next;
end;
$function$;

comment on function recall.distribute(integer) is
    'Distribute the tables over the nodes of a Citus cluster by user, and send the calls of a user '
    'there. For superusers, after an installation with recall.hash_partitions = 0. Repeatable. '
    'Returns how many tables were distributed now, and how many functions. RC007: no Citus, or '
    'hash partitions.';
