-- List the tables with user data, and of each the hash partition with a user's rows.
-- A statement on the table itself would lock the partitions of all users. The partition may have
-- months. All tables have the same hash partitions, so their bounds are compared with that of the
-- users' partition: satisfies_hash_partition for each takes 4 ms. Without one it is the table.
create or replace function recall._user_partitions(
    p_user_id uuid
)
returns table (
    place       integer,
    name        regclass,
    part        regclass,
    is_unlogged boolean
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_bound text := (
        select pg_catalog.pg_get_expr(c.relpartbound, c.oid)
          from pg_catalog.pg_class as c
         where c.oid = recall._hash_leaf('recall.users', p_user_id));
begin
    return query
    select t.place, t.name, coalesce(h.leaf, t.name), t.is_unlogged
      from recall._user_tables() as t
      left join lateral (
            select i.inhrelid::regclass
              from pg_catalog.pg_inherits as i
              join pg_catalog.pg_class as c on c.oid = i.inhrelid
             where i.inhparent = t.name
               and pg_catalog.pg_get_expr(c.relpartbound, c.oid) = v_bound
           ) as h (leaf) on true
     order by t.place;
end;
$function$;

comment on function recall._user_partitions(uuid) is
    'The tables with user data, and of each the partition with a user''s rows.';
