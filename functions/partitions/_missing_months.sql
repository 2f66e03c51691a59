-- Count parents that lack the month of a time, and those that lack the next one.
-- It reads the catalog, because the settings do not notice when a partition is dropped manually.
create or replace function recall._missing_months(
    p_at       timestamptz,
    out o_this integer,
    out o_next integer
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    select count(*) filter (where not m.is_next), count(*) filter (where m.is_next)
      into o_this, o_next
      from pg_catalog.pg_partitioned_table as p
      join pg_catalog.pg_class as c on c.oid = p.partrelid
     cross join (
            values (date_trunc('month', p_at, 'UTC'), false),
                   (date_add(date_trunc('month', p_at, 'UTC'), interval '1 month', 'UTC'), true)
           ) as m (month, is_next)
     where c.relnamespace = 'recall'::regnamespace
       and p.partstrat = 'r'
       and not exists (
               select from recall._month_leaves(p.partrelid) as l
                where l.lower_bound <= m.month
                  and l.upper_bound > m.month);
end;
$function$;

comment on function recall._missing_months(timestamptz) is
    'How many parents of monthly partitions lack the month of a time, and the next one.';
