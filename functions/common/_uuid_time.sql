-- Return the time in a UUIDv7; NULL for other versions.
-- The function of PostgreSQL 17 reads version 1 only.
create or replace function recall._uuid_time(
    p_id uuid
)
returns timestamptz
language sql
immutable
parallel safe
return case
    when substr(p_id::text, 15, 1) = '7'
        then to_timestamp(
                 ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
end;

comment on function recall._uuid_time(uuid) is
    'The time in a UUIDv7 (milliseconds); NULL for other versions.';
