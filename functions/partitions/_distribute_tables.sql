-- Distribute the tables with rows of users, and copy the others to each node of a Citus cluster.
-- Returns how many tables were not distributed before.
create or replace function recall._distribute_tables(
    p_shard_count integer
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_owner constant regrole := (
        select n.nspowner from pg_catalog.pg_namespace as n where n.nspname = 'recall');
    v_table record;
    v_count integer := 0;
begin
    -- Functions connect to the other nodes as the owner. A function on the node of its user writes
    -- to tables that all nodes have.
    execute format('alter role %s login', v_owner);
    execute format('alter database %I set citus.allow_nested_distributed_execution = on',
                   current_database());

    for v_table in execute $query$
        select c.oid::regclass as name, c.relname, u.has_user
          from pg_catalog.pg_class as c
         cross join lateral (
                select exists (
                           select
                             from pg_catalog.pg_attribute as a
                            where a.attrelid = c.oid
                              and a.attname = 'user_id'
                              and not a.attisdropped)
               ) as u (has_user)
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind in ('r', 'p')
           and not c.relispartition
           and c.relowner = $1
           and not exists (
                   select from pg_catalog.pg_dist_partition as d where d.logicalrelid = c.oid)
         order by u.has_user, c.relname <> 'users', c.relname
        $query$ using v_owner
    loop
        if not v_table.has_user then
            execute 'select create_reference_table($1)' using v_table.name;
        elsif v_table.relname = 'users' then
            execute 'select create_distributed_table($1, ''user_id'', shard_count := $2)'
              using v_table.name, p_shard_count;
        else
            execute 'select create_distributed_table($1, ''user_id'', '
                    'colocate_with := ''recall.users'')' using v_table.name;
        end if;
        v_count := v_count + 1;
    end loop;
    return v_count;
end;
$function$;

comment on function recall._distribute_tables(integer) is
    'Distribute the tables with rows of users over a Citus cluster, and copy the others to each '
    'node.';
