-- Add the logged accesses to the counters of their memories, user by user.
-- Each memory gets one HOT update, and a trigger flags those that cross a threshold of promotion.
-- The call skips locked users, and `more` reports them.
-- Locks   users, as far as they are free, until settings.maintenance_lock_time has passed; then
--         their memories.
create or replace function recall.flush_access_log(
    p_limit integer     default 5000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_start timestamptz := clock_timestamp();
    v_now   timestamptz := coalesce(p_as_of, v_start);
    v_until timestamptz;
    v_held  uuid[]      := '{}'::uuid[];
    v_found integer;
    v_users uuid[];
    v_user  uuid;
    v_rows  integer;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select v_start + s.maintenance_lock_time into v_until from recall.settings as s;
    done := 0;
    more := false;

    -- Users who are locked may fill the batch. Then it is read again without them.
    <<batch>>
    loop
        v_users := array(
            select distinct d.user_id
              from (
                    select l.user_id
                      from recall.memory_access_log as l
                     where l.accessed_at <= v_now
                       and l.user_id     <> all (v_held)
                     limit p_limit
                   ) as d);
        v_found := cardinality(v_held);
        foreach v_user in array v_users loop
            v_rows := recall._count_accesses(v_user, p_limit - done, v_now);
            done   := done + v_rows;
            exit batch when done >= p_limit or clock_timestamp() >= v_until and done > 0;
            if v_rows = 0 then
                v_held := v_held || v_user;
            end if;
        end loop;
        exit when cardinality(v_held) = v_found;
    end loop;

    more := exists (
        select 1 from recall.memory_access_log as l where l.accessed_at <= v_now);
    return next;
end;
$function$;

comment on function recall.flush_access_log(integer, timestamptz) is
    'Add the logged accesses to the counters of their memories, one batch a call. done counts '
    'accesses; more is true while some remain.';
