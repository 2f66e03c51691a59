-- Record in settings the unbroken range of months around now that every partition has.
-- With it, an append checks its month by two comparisons.
create or replace function recall._record_month_range()
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_parent regclass;
    v_from   timestamptz := timestamptz '-infinity';
    v_until  timestamptz := timestamptz 'infinity';
    v_lower  timestamptz;
    v_upper  timestamptz;
begin
    for v_parent in
        select c.oid::regclass
          from pg_catalog.pg_class as c
          join pg_catalog.pg_partitioned_table as p on p.partrelid = c.oid
         where c.relnamespace = 'recall'::regnamespace
           and p.partstrat = 'r'
    loop
        select r.lower_bound, r.upper_bound
          into v_lower, v_upper
          from (
                select min(l.lower_bound) as lower_bound, max(l.upper_bound) as upper_bound
                  from (
                        select i.lower_bound, i.upper_bound,
                               count(*) filter (where i.is_gap)
                                   over (order by i.lower_bound) as run
                          from (
                                select m.lower_bound, m.upper_bound,
                                       m.lower_bound <> lag(m.upper_bound)
                                           over (order by m.lower_bound) as is_gap
                                  from recall._month_leaves(v_parent) as m
                               ) as i
                       ) as l
                 group by l.run
               ) as r
         where r.lower_bound <= clock_timestamp() and clock_timestamp() < r.upper_bound;

        v_from  := greatest(v_from, coalesce(v_lower, 'infinity'));
        v_until := least(v_until, coalesce(v_upper, '-infinity'));
    end loop;

    update recall.settings as s
       set history_from  = v_from,
           history_until = v_until
     where (s.history_from, s.history_until) is distinct from (v_from, v_until);
end;
$function$;

comment on function recall._record_month_range() is
    'Record in settings the unbroken range of months around now that every partition has.';
