-- recall.uuidv7() -> uuid
-- Time-ordered ids (RFC 9562) with the same text on PostgreSQL 17, which has none of its own,
-- and 18. Unordered within a millisecond: never order by an id what has a counter.
-- The variant comes with the rest of a random UUID, of version 4.
create or replace function recall.uuidv7()
returns uuid
language sql
volatile
parallel safe
return (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
        || '7' || substr(gen_random_uuid()::text, 16))::uuid;

comment on function recall.uuidv7() is 'A new UUIDv7: 48 bits of Unix milliseconds, then random.';
