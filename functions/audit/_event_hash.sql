-- Return the SHA-256 that chains an event to the previous one.
-- The number is not hashed: the predecessor defines an event's position. The bytes do not depend on
-- session settings. A tombstone keeps its hash, because the hashed content is gone.
create or replace function recall._event_hash(
    p_previous bytea,
    p_event    recall.memory_events
)
returns bytea
language sql
stable
parallel safe
as $function$
    select case
        when (p_event).event = 'tombstone' then (p_event).event_hash
        else sha256(array_send(array[
            p_previous, uuid_send((p_event).user_id), uuid_send((p_event).memory_id),
            timestamptz_send((p_event).at), convert_to((p_event).event, 'UTF8'),
            uuid_send((p_event).job_id), convert_to((p_event).caller, 'UTF8'),
            convert_to((p_event).detail::text, 'UTF8'), (p_event).memory_hash]))
    end;
$function$;

comment on function recall._event_hash(bytea, recall.memory_events) is
    'SHA-256 over the hash of the previous event and the content of this one.';
