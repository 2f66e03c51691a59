-- List the tables that store rows of users: leaf partitions, unpartitioned tables, detached months.
-- Unlogged ones are missing on a standby, which cannot read them. On Citus a table is listed
-- itself. pg_partition_tree would lock all partitions until the end of the transaction.
create or replace function recall._user_leaves()
returns setof regclass
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    with recursive parts (part, is_leaf) as (
        select t.name, c.relkind = 'r' or recall._is_distributed()
          from recall._user_tables() as t
          join pg_catalog.pg_class as c on c.oid = t.name
         where not (t.is_unlogged and pg_is_in_recovery())
         union all
        select i.inhrelid::regclass, c.relkind = 'r'
          from parts as p
          join pg_catalog.pg_inherits as i on i.inhparent = p.part
          join pg_catalog.pg_class as c on c.oid = i.inhrelid
         where not p.is_leaf
    )
    select p.part from parts as p where p.is_leaf
     union all
    select d.name from recall._detached_tables() as d (name);
end;
$function$;

comment on function recall._user_leaves() is 'The tables that store rows of users.';
