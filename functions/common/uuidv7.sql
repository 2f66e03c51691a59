-- recall.uuidv7() -> uuid
-- Time-ordered ids (RFC 9562) with the same text on PostgreSQL 17, which has none of its own,
-- and 18. Unordered within a millisecond: never order by an id what has a counter.
create or replace function recall.uuidv7()
returns uuid
language sql
volatile
parallel safe
return encode(
    set_bit(
        set_bit(
            overlay(
                uuid_send(gen_random_uuid())
                placing substring(
                    int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
                from 1 for 6),
            52, 1),
        53, 1),
    'hex')::uuid;

comment on function recall.uuidv7() is 'A new UUIDv7: 48 bits of Unix milliseconds, then random.';
