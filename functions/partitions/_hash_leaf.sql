-- Return the hash partition with a user's rows; NULL for another kind of table.
-- The CASE guards satisfies_hash_partition, which raises for other tables.
create or replace function recall._hash_leaf(
    p_parent  regclass,
    p_user_id uuid
)
returns regclass
language sql
stable
parallel safe
return (
    select i.inhrelid::regclass
      from pg_catalog.pg_inherits as i
      join pg_catalog.pg_class as c on c.oid = i.inhrelid
     cross join lateral (select pg_catalog.pg_get_expr(c.relpartbound, c.oid)) as b (bound)
     where i.inhparent = p_parent
       and case
               when i.inhparent = p_parent and b.bound like '%modulus%'
                   then satisfies_hash_partition(
                            p_parent,
                            substring(b.bound from 'modulus (\d+)')::integer,
                            substring(b.bound from 'remainder (\d+)')::integer,
                            p_user_id)
               else false
           end
);

comment on function recall._hash_leaf(regclass, uuid) is
    'The hash partition with a user''s rows; NULL for another kind of table.';
