-- Delete the content of audit events and leave tombstones.
-- A tombstone keeps number and hash, so that the chain stays verifiable. An event forgotten lists
-- the erased ones; any other missing event is reported. The hash reveals nothing, since deleted ids
-- and times went into it. The caller has locked the user.
create or replace function recall._forget_events(
    p_user_id   uuid,
    p_event_nos bigint[]
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_nobody constant uuid := uuid '00000000-0000-0000-0000-000000000000';
    v_now    timestamptz   := clock_timestamp();
    v_kept   recall.memory_events[];
begin
    if p_event_nos = '{}' then
        return;
    end if;
    with gone as (
        delete from recall.memory_events as e
         where e.user_id  = p_user_id
           and e.event_no = any (p_event_nos)
        returning e.*
    )
    select array_agg((g.*)::recall.memory_events) into v_kept from gone as g;

    insert into recall.memory_events (user_id, memory_id, event_no, at, event, caller, event_hash)
    select p_user_id, v_nobody, k.event_no, v_now, 'tombstone', session_user, k.event_hash
      from unnest(v_kept) as k;

    perform recall._log_event(
        p_user_id, v_nobody, 'forgotten',
        jsonb_build_object('events', (
            select range_agg(int8range(n.event_no, n.event_no, '[]'))
              from unnest(p_event_nos) as n (event_no))));
end;
$function$;

comment on function recall._forget_events(uuid, bigint[]) is
    'Delete the content of events; tombstones keep the chain verifiable.';
