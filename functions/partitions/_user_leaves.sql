-- List the partitions of a table that may contain rows of the user.
-- Without a table: tables in the schema that are no longer part of it, such as detached months. The
-- catalog gives the list without locks on partitions.
create or replace function recall._user_leaves(
    p_user_id uuid,
    p_table   regclass
)
returns setof regclass
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_table is null then
        -- On Citus a shard of a table belongs to that table.
        return query execute format($query$
        select c.oid::regclass
          from pg_catalog.pg_class as c
          join pg_catalog.pg_attribute as a on a.attrelid = c.oid
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind = 'r'
           and not c.relispartition
           and a.attname = 'user_id'
           and not a.attisdropped
           and c.oid not in (select t.name from recall._user_tables() as t)
           and %s
         order by c.oid
        $query$, case when recall._is_distributed()
                      then 'not pg_catalog.relation_is_a_known_shard(c.oid)' else 'true' end);
    else
        return query
        with recursive parts (part) as (
            select coalesce(recall._hash_leaf(p_table, p_user_id), p_table)
            union all
            select i.inhrelid::regclass
              from parts as p
              join pg_catalog.pg_inherits as i on i.inhparent = p.part
        )
        select p.part
          from parts as p
          join pg_catalog.pg_class as c on c.oid = p.part
         where c.relkind = 'r';
    end if;
end;
$function$;

comment on function recall._user_leaves(uuid, regclass) is
    'Partitions that may contain a user''s rows; without a table, detached ones.';
