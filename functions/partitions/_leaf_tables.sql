-- List the tables that store the rows of a table: its partitions, or the table itself.
create or replace function recall._leaf_tables(
    p_table regclass
)
returns table (
    relid regclass
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    -- pg_partition_tree gives no row for an ordinary table.
    return query
    select p_table
     where not exists (
               select from pg_catalog.pg_partitioned_table as p where p.partrelid = p_table)
     union all
    select l.relid
      from pg_catalog.pg_partition_tree(p_table) as l
     where l.isleaf
       and l.relid <> p_table;
end;
$function$;

comment on function recall._leaf_tables(regclass) is
    'The tables that store the rows of a table: its partitions, or the table itself.';
