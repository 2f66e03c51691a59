-- Enqueue `compact` jobs for sessions whose active turns exceed twice their context window.
-- A session that has such a job, even a dead one, gets no other. Appends enqueue it much earlier;
-- this call replaces lost ones. It clears the flag, and the next append sets it again while the
-- reason lasts. It skips locked sessions, and `more` reports them.
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
set search_path to pg_catalog, recall, pg_temp
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
    loop
        exit when v_looked >= p_limit or clock_timestamp() >= v_until and v_looked > 0;
        -- Citus locks rows of one user only. Sessions that others have locked do not count.
        select s.*
          into v_session
          from recall.sessions as s
         where s.user_id    = v_session.user_id
           and s.session_id = v_session.session_id
           and s.compaction_due
           for no key update skip locked;
        continue when not found;
        if recall._enqueue_compaction(v_session, coalesce(p_as_of, v_start)) then
            done := done + 1;
        end if;
        v_looked := v_looked + 1;
    end loop;
    more := exists (select 1 from recall.sessions as s where s.compaction_due);
    return next;
end;
$function$;

comment on function recall.enqueue_compactions(integer, timestamptz) is
    'Enqueue the compaction of sessions whose active turns exceed twice their context window, one '
    'batch a call. done counts jobs; more is true while some sessions remain.';
