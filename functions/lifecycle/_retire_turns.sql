-- Erase the turns of a month from its sessions before the partition is dropped.
-- It uses short transactions, since the sessions may be in use, and begins only when all turns may
-- go. maintenance_tasks.position holds its progress; first_retained_turn hides erased turns. A
-- later call that finds nothing left sets o_is_done, and the partition is dropped. Neither
-- o_is_done nor o_more means that a session must keep its turns. The next call retries a locked
-- session.
-- Locks   users and sessions as far as they are free, until the time has passed; then their jobs.
create or replace function recall._retire_turns(
    p_leaf        regclass,
    p_upper_bound timestamptz,
    p_now         timestamptz,
    p_until       timestamptz,
    out o_is_done boolean,
    out o_more    boolean
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_chunk constant integer := 50;
    v_name  constant text    := (
        select c.relname from pg_catalog.pg_class as c where c.oid = p_leaf);
    v_position jsonb;
    v_moved    boolean := false;
    v_batch    record;
begin
    o_is_done := false;
    o_more    := false;
    select t.position
      into v_position
      from recall.maintenance_tasks as t
     where t.task = 'drop_expired_partitions'
       for no key update skip locked;
    if not found then
        return;
    end if;
    if v_position ->> 'leaf' is distinct from v_name then
        if exists (
               select from recall._month_sessions(p_leaf, p_upper_bound, p_now) as s
                where not (s.is_retired or s.may_go)) then
            return;
        end if;
        v_position := jsonb_build_object('leaf', v_name);
    end if;

    loop
        v_batch := recall._retire_chunk(
            p_leaf, p_upper_bound, p_now, (v_position ->> 'user_id')::uuid,
            (v_position ->> 'session_id')::uuid, v_chunk);
        if v_batch.o_sessions = 0 then
            o_more    := v_moved;
            o_is_done := not v_moved;
        end if;
        o_more := o_more or v_batch.o_held and not v_batch.o_left;
        exit when v_batch.o_sessions = 0 or v_batch.o_left or v_batch.o_held;

        v_moved    := true;
        v_position := v_position || jsonb_build_object('user_id', v_batch.o_user_id,
                                                       'session_id', v_batch.o_session_id);
        o_more     := clock_timestamp() >= p_until;
        exit when o_more;
    end loop;
    update recall.maintenance_tasks as t
       set position = v_position
     where t.task = 'drop_expired_partitions';
end;
$function$;

comment on function recall._retire_turns(regclass, timestamptz, timestamptz, timestamptz) is
    'Erase the turns of a month from its sessions, if all of them may go, batch by batch.';
