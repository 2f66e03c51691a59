-- Add the JSON payload to text events that hold bytes only.
-- The search for secrets split over several events then covers these events, too.
create or replace function recall._events_with_payload(
    p_events jsonb
)
returns jsonb
language sql
immutable
parallel safe
begin atomic
    select coalesce(jsonb_agg(
               case
                   when e.event ->> 'binary_payload' is not null
                        and e.event ->> 'payload' is null
                        and recall._is_text_event(e.event)
                       then e.event || jsonb_build_object('payload', recall._json_of_bytes(
                                decode(e.event ->> 'binary_payload', 'base64')))
                   else e.event
               end order by e.place), '[]')
      from jsonb_array_elements(p_events) with ordinality as e (event, place);
end;

comment on function recall._events_with_payload(jsonb) is
    'Events of a stream, with the JSON payload of those that hold bytes only.';
