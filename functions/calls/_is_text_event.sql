-- Tell whether an event's binary_payload is text, by its mime_type.
create or replace function recall._is_text_event(
    p_event jsonb
)
returns boolean
language sql
immutable
parallel safe
return coalesce(p_event ->> 'mime_type', '') ~ '^($|text/|application/(json|x-ndjson))';

comment on function recall._is_text_event(jsonb) is
    'Whether the bytes of a stream event are text, in which secrets are masked.';
