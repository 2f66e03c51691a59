-- recall._forget_events(user, events)
-- What was said by events that go is deleted; a tombstone keeps the number and the hash of each, so
-- that the chain can still be followed, and an event says which were forgotten: one that went
-- otherwise is missed. The hash gives nothing away, since ids and times that are gone as well went
-- into it. The caller holds the user's row.
create or replace function recall._forget_events(
    p_user_id   uuid,
    p_event_nos bigint[]
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
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
    'Delete what events say; tombstones keep the chain whole.';
