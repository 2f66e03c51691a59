-- Settle one batch of due memories of all users: those with or those without an expiry.
-- done counts memories that were ended or decayed, not those that were checked too early. Locked
-- users are skipped, and `more` reports them.
-- Locks   users, as far as they are free, until settings.maintenance_lock_time has passed; then
--         their memories.
create or replace function recall._sweep_memories(
    p_has_expiry boolean,
    p_limit      integer,
    p_as_of      timestamptz,
    out o_done   integer,
    out o_more   boolean
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set jit = off
as $function$
declare
    v_start   timestamptz := clock_timestamp();
    v_now     timestamptz := coalesce(p_as_of, v_start);
    v_until   timestamptz;
    v_looked  integer     := 0;
    v_held    uuid[]      := '{}'::uuid[];
    v_found   boolean;
    v_user_id uuid;
    v_ids     uuid[];
    v_seen    integer;
    v_count   integer;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select v_start + s.maintenance_lock_time into v_until from recall.settings as s;
    o_done := 0;
    o_more := false;

    <<batch>>
    loop
        v_found := false;
        for v_user_id, v_ids in
            select d.user_id, d.memory_ids
              from recall._due_memories(
                       p_has_expiry, true, v_now, greatest(p_limit - o_done, 1), v_held) as d
        loop
            o_more := o_done >= p_limit or clock_timestamp() >= v_until and v_looked > 0;
            exit batch when o_more;
            v_found := true;
            select b.o_looked, b.o_done
              into v_seen, v_count
              from recall._settle_memories(v_user_id, v_ids[1 : p_limit - o_done], v_now) as b;
            if v_seen = 0 then
                v_held := v_held || v_user_id;
            end if;
            v_looked := v_looked + v_seen;
            o_done   := o_done + v_count;
        end loop;
        exit when not v_found;
    end loop;
    o_more := o_more or v_held <> '{}';
end;
$function$;

comment on function recall._sweep_memories(boolean, integer, timestamptz) is
    'Settle one batch of due memories, over all users.';
