-- Promote memories that have earned it by their use by one tier.
-- They rise from session to episodic, from episodic to semantic, or to procedural if their kind is
-- behavioral (recall._promotion_target). A call raises a memory by one tier, and the next call may
-- raise it again. Locked users are skipped, and `more` reports them.
-- Locks   users, as far as they are free, until settings.maintenance_lock_time has passed; then
--         their memories.
create or replace function recall.promote_memories(
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
    v_looked  integer     := 0;
    v_held    boolean     := false;
    v_found   boolean;
    v_after   uuid        := uuid '00000000-0000-0000-0000-000000000000';
    v_last    uuid        := v_after;
    v_user_id uuid;
    v_ids     uuid[];
    v_seen    integer;
    v_count   integer;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select v_start + s.maintenance_lock_time into v_until from recall.settings as s;
    done := 0;
    more := false;

    <<batch>>
    loop
        v_found := false;
        for v_user_id, v_ids in
            select d.user_id, d.memory_ids
              from recall._due_promotions(v_after, v_last, greatest(p_limit - v_looked, 1)) as d
        loop
            more := v_looked >= p_limit or clock_timestamp() >= v_until and v_looked > 0;
            exit batch when more;
            v_found := true;
            select b.o_looked, b.o_done
              into v_seen, v_count
              from recall._promote_due(v_user_id, v_ids, v_now) as b;
            v_looked := v_looked + v_seen;
            done     := done + v_count;
            v_held   := v_held or v_seen = 0;
            v_after  := v_user_id;
            v_last   := case when v_seen = 0 then 'ffffffff-ffff-ffff-ffff-ffffffffffff'
                             else v_ids[cardinality(v_ids)] end;
        end loop;
        exit when not v_found;
    end loop;
    more := more or v_held;
    return next;
end;
$function$;

comment on function recall.promote_memories(integer, timestamptz) is
    'Promote memories that have earned it by their use by one tier, one batch a call. done counts '
    'memories; more is true while some remain.';
