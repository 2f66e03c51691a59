-- recall.enqueue_compactions(limit, as_of) -> (done, more)
-- Sessions whose active turns passed twice their context window get a `compact` job, unless one of
-- theirs is there already, dead ones included. The append asks for it much earlier: this catches
-- what was lost on the way. The flag goes; the next append sets it again while there is a reason. A
-- session that somebody holds is left for a later call, as `more` says.
-- Locks   sessions, as far as they are free, until settings.maintenance_lock_time has passed.
create or replace function recall.enqueue_compactions(
    p_limit integer     default 1000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $function$
declare
    v_start   timestamptz := clock_timestamp();
    v_until   timestamptz;
    v_looked  integer     := 0;
    v_session recall.sessions;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select v_start + s.maintenance_lock_time into v_until from recall.settings as s;
    done := 0;

    for v_session in
        select s.*
          from recall.sessions as s
         where s.compaction_due
         limit p_limit::bigint + 1
           for no key update skip locked
    loop
        exit when v_looked >= p_limit or clock_timestamp() >= v_until and v_looked > 0;
        if recall._enqueue_compaction(v_session, coalesce(p_as_of, v_start)) then
            done := done + 1;
        end if;
        v_looked := v_looked + 1;
    end loop;
    more := exists (select from recall.sessions as s where s.compaction_due);
    return next;
end;
$function$;

comment on function recall.enqueue_compactions(integer, timestamptz) is
    'Ask for the compaction of sessions above twice their window, one batch a call.';
