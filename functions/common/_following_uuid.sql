-- Return the id at a position (from 0) among ids created together.
-- Random bits are the cost of an id (5 µs). So ids created together share all but the last 24 bits,
-- which count up and keep the ids in order.
create or replace function recall._following_uuid(
    p_first uuid,
    p_place bigint
)
returns uuid
language sql
immutable
parallel safe
return overlay(p_first::text placing lpad(to_hex(p_place), 6, '0') from 31 for 6)::uuid;

comment on function recall._following_uuid(uuid, bigint) is
    'One of several UUIDv7 created together, by its position.';
