-- List the partitions of a range-partitioned table with their bounds.
-- They are read from the catalog, never from names. Bounds print in the session's time zone, so
-- this function sets UTC.
create or replace function recall._month_leaves(
    p_parent regclass
)
returns table (
    leaf        regclass,
    lower_bound timestamptz,
    upper_bound timestamptz
)
language sql
stable
parallel safe
set timezone = 'UTC'
set datestyle = 'ISO'
begin atomic
    select i.inhrelid::regclass,
           coalesce(substring(b.bound from 'FROM \(''([^'']+)''\)')::timestamptz, '-infinity'),
           coalesce(substring(b.bound from 'TO \(''([^'']+)''\)')::timestamptz, 'infinity')
      from pg_catalog.pg_inherits as i
      join pg_catalog.pg_class as c on c.oid = i.inhrelid
     cross join lateral (select pg_catalog.pg_get_expr(c.relpartbound, c.oid)) as b (bound)
     where i.inhparent = p_parent
       and not i.inhdetachpending;
end;

comment on function recall._month_leaves(regclass) is
    'Partitions of a range-partitioned table with their bounds (UTC; infinite for MINVALUE, '
    'MAXVALUE).';
