-- Prepare the transaction for Citus, where the database has it.
-- A new installation stays on this node until recall.distribute. An upgrade of distributed tables
-- goes to all nodes.
do $citus$
declare
    v_is_distributed boolean := false;
begin
    if to_regclass('pg_catalog.pg_dist_partition') is null then
        return;
    end if;
    execute 'select exists (select from pg_catalog.pg_dist_partition as d'
            ' where d.logicalrelid = to_regclass(''recall.users''))' into v_is_distributed;
    perform set_config('citus.enable_ddl_propagation', v_is_distributed::text, true),
            set_config('citus.enable_unsafe_triggers', 'on', true),
            set_config('citus.multi_shard_modify_mode', 'sequential', true);
end;
$citus$;
