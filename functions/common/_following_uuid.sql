-- recall._following_uuid(first, place) -> the id at a place (from 0) of those made at once
-- Random bits are what an id costs (5 µs): ids that are made together share theirs but for the last
-- 24, which count. So they are in order, too.
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
    'One of the UUIDv7 that are made at once, by its place among them.';
