-- Create the missing monthly partitions (UTC) of history and spans, up to history_months_ahead.
-- Each parent also gets one partition for rows older than twelve months before its creation, for
-- old imports. Months in between are created when a row arrives. Repeatable. The nearest months
-- come first, and a call ends after two seconds, so that each keeps what it has created.
-- Locks   a parent against other partition changes, only when a month is missing; gives up after
--         two seconds, the next run goes on.
create or replace function recall.ensure_partitions(
    p_limit integer     default 1000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set lock_timeout = '2s'
as $function$
declare
    v_until  constant timestamptz := clock_timestamp() + interval '2 seconds';
    v_months integer;
    v_first  timestamptz;
    v_parent regclass;
    v_month  timestamptz;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    v_first := date_trunc('month', coalesce(p_as_of, clock_timestamp()), 'UTC');
    done := 0;
    more := false;
    select s.history_months_ahead into v_months from recall.settings as s;

    <<months>>
    for v_ahead in 0 .. v_months loop
        v_month := date_add(v_first, make_interval(months => v_ahead), 'UTC');
        for v_parent in
            select c.oid::regclass
              from pg_catalog.pg_class as c
              join pg_catalog.pg_partitioned_table as p on p.partrelid = c.oid
             where c.relnamespace = 'recall'::regnamespace
               and p.partstrat = 'r'
             order by c.relname
        loop
            if done >= p_limit or done > 0 and clock_timestamp() > v_until then
                more := true;
                exit months;
            end if;
            if v_ahead = 0 and not exists (select from recall._month_leaves(v_parent)) then
                perform recall._create_leaf(
                    v_parent,
                    (select c.relname from pg_catalog.pg_class as c where c.oid = v_parent)
                    || '_old',
                    null, date_add(v_first, interval '-12 months', 'UTC'));
            end if;
            if recall._ensure_month(v_parent, v_month) then
                done := done + 1;
            end if;
        end loop;
    end loop;

    perform recall._record_month_range();
    return next;
end;
$function$;

comment on function recall.ensure_partitions(integer, timestamptz) is
    'Create the missing monthly partitions (UTC) of history and spans, from the current month to '
    'history_months_ahead. Returns how many were created, and whether more are due: a call ends '
    'after two seconds.';
