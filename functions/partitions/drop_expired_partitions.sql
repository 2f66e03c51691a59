-- Detach and drop monthly partitions past their retention.
-- History also waits until each session in it was closed, has expired or was compacted past its
-- turns. A user's own setting can only lengthen the retention of the users in the same partition.
-- With drop_expired_history off, history is only detached. Each lock waits 100 ms: a long reader
-- delays the drop, and a locked month counts as more.
-- Locks   see recall._retire_turns and recall._drop_month.
create or replace function recall.drop_expired_partitions(
    p_limit integer     default 10,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set lock_timeout = '100ms'
as $function$
declare
    v_start timestamptz := clock_timestamp();
    v_now   timestamptz := coalesce(p_as_of, v_start);
    v_until timestamptz;
    v_month record;
    v_turns record;
    v_gone  boolean;
    v_held  boolean     := false;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select v_start + s.maintenance_lock_time into v_until from recall.settings as s;
    done := 0;
    more := false;

    for v_month in
        select m.*
          from recall._expired_months(v_now, null) with ordinality as m
         order by exists (
                      select from recall.maintenance_tasks as t
                       where t.task = 'drop_expired_partitions'
                         and t.position ->> 'leaf' = m.leaf_name) desc, m.ordinality
    loop
        more := done > 0;
        exit when done >= p_limit or clock_timestamp() >= v_until and done > 0;
        if v_month.is_history then
            v_turns := recall._retire_turns(v_month.leaf, v_month.upper_bound, v_now, v_until);
            more    := v_turns.o_more;
            exit when more;
            continue when not v_turns.o_is_done;
            update recall.maintenance_tasks as t
               set position = null
             where t.task = 'drop_expired_partitions';
        end if;
        v_gone := recall._drop_month(v_month.parent, v_month.leaf, v_month.lower_bound,
                                     v_month.upper_bound, v_now);
        if v_gone then
            done := done + 1;
        end if;
        v_held := v_held or v_gone is null;
        more := false;
    end loop;
    more := more or v_held;

    if done > 0 then
        perform recall._record_month_range();
    end if;
    return next;
end;
$function$;

comment on function recall.drop_expired_partitions(integer, timestamptz) is
    'Detach and drop monthly partitions of history, job spans and the call log that are past '
    'their retention and no longer needed. Returns how many were dropped, and whether more are '
    'due. A locked month counts as due.';
