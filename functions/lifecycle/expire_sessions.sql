-- Expire sessions that were not used for their lifetime.
-- An expired session takes no messages until it is resumed. The call skips locked sessions, and
-- `more` reports them.
-- Locks   sessions, as far as they are free, until settings.maintenance_lock_time has passed.
create or replace function recall.expire_sessions(
    p_limit integer     default 1000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set jit = off
as $function$
declare
    v_start   timestamptz := clock_timestamp();
    v_now     timestamptz := coalesce(p_as_of, v_start);
    v_until   timestamptz;
    v_user_id uuid;
    v_session uuid;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select v_start + s.maintenance_lock_time into v_until from recall.settings as s;
    done := 0;

    for v_user_id, v_session in
        select d.user_id, d.session_id from recall._due_sessions(v_now, p_limit::bigint + 100) as d
    loop
        exit when done >= p_limit or clock_timestamp() >= v_until and done > 0;
        if recall._expire_session(v_user_id, v_session, v_now) then
            done := done + 1;
        end if;
    end loop;

    more := exists (select from recall._due_sessions(v_now, 1) as d);
    return next;
end;
$function$;

comment on function recall.expire_sessions(integer, timestamptz) is
    'Expire sessions that were not used for their lifetime, one batch a call. done counts '
    'sessions; more is true while some remain.';
