-- Return a new UUIDv7 (RFC 9562).
-- PostgreSQL 17 has no uuidv7() of its own, so this definition serves versions 17 and 18. Ids of
-- one millisecond are unordered: never order by an id where a counter exists. The variant bits come
-- from the random UUID of version 4.
create or replace function recall.uuidv7()
returns uuid
language sql
volatile
parallel safe
return (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
        || '7' || substr(gen_random_uuid()::text, 16))::uuid;

comment on function recall.uuidv7() is
    'A new UUIDv7: 48 bits of Unix milliseconds, then random bits. Ids of the same millisecond '
    'are unordered.';
