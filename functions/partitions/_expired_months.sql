-- List monthly partitions past their retention, the oldest first.
-- The partition for everything before (old imports) is listed only when it has rows.
create or replace function recall._expired_months(
    p_now   timestamptz,
    p_limit integer
)
returns table (
    parent      regclass,
    leaf        regclass,
    leaf_name   text,
    lower_bound timestamptz,
    upper_bound timestamptz,
    is_history  boolean
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings;
begin
    select s.* into v_settings from recall.settings as s;

    return query
    select p.partrelid::regclass, l.leaf, n.relname::text, l.lower_bound, l.upper_bound,
           pg_partition_root(p.partrelid) = 'recall.conversation_history'::regclass
      from pg_catalog.pg_partitioned_table as p
      join pg_catalog.pg_class as c on c.oid = p.partrelid
     cross join lateral recall._month_leaves(p.partrelid::regclass) as l
      join pg_catalog.pg_class as n on n.oid = l.leaf
     where c.relnamespace = 'recall'::regnamespace
       and p.partstrat = 'r'
       and l.upper_bound <= date_subtract(
               p_now, recall._month_retention(p.partrelid::regclass, v_settings), 'UTC')
       and (l.lower_bound > '-infinity' or pg_relation_size(l.leaf) > 0)
     order by l.upper_bound, l.lower_bound, l.leaf::text
     limit p_limit;
end;
$function$;

comment on function recall._expired_months(timestamptz, integer) is
    'Monthly partitions past their retention.';
