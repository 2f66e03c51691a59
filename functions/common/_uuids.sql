-- recall._uuids(count) -> that many UUIDv7
-- Volatile calls never stand inside a statement on user data; take the ids first.
create or replace function recall._uuids(
    p_count integer
)
returns uuid[]
language sql
volatile
parallel safe
return (select coalesce(array_agg(recall.uuidv7()), '{}') from generate_series(1, p_count));

comment on function recall._uuids(integer) is 'An array of new UUIDv7.';
