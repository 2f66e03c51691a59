-- recall._chain_events(hash, events) -> the hash of each, chained to that of the one before
create or replace function recall._chain_events(
    p_hash   bytea,
    p_events recall.memory_events[]
)
returns bytea[]
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_hash   bytea   := p_hash;
    v_hashes bytea[] := '{}'::bytea[];
    v_event  recall.memory_events;
begin
    foreach v_event in array p_events loop
        v_hash   := recall._event_hash(v_hash, v_event);
        v_hashes := v_hashes || v_hash;
    end loop;
    return v_hashes;
end;
$function$;

comment on function recall._chain_events(bytea, recall.memory_events[]) is
    'The hashes of events that follow one another.';
