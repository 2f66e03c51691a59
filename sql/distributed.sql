-- Let functions take their branches for Citus, where it has distributed the tables.
-- recall.distribute, called after an upgrade, sends functions to the other nodes as a superuser. In
-- this transaction its connections would wait for those of the owner.
do $distributed$
declare
    v_is_distributed boolean := false;
begin
    if to_regclass('pg_catalog.pg_dist_partition') is null then
        return;
    end if;
    execute 'select exists (select from pg_catalog.pg_dist_partition as d'
            ' where d.logicalrelid = to_regclass(''recall.users''))' into v_is_distributed;
    if v_is_distributed then
        execute 'create or replace function recall._is_distributed() returns boolean language sql'
                ' immutable parallel safe return true';
    end if;
end;
$distributed$;
