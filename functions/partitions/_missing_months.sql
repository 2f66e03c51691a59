-- recall._missing_months(at) -> parents that lack the month of a time, and the one after it
-- From the catalog: what settings note of it is not told when somebody drops a leaf.
create or replace function recall._missing_months(
    p_at       timestamptz,
    out o_this integer,
    out o_next integer
)
language plpgsql
stable
parallel safe
set search_path from current
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
    'How many parents of monthly leaves lack the month of a time, and the next one.';
