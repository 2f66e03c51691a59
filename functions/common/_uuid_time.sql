-- recall._uuid_time(id) -> the time in a UUIDv7, NULL for any other
-- (PostgreSQL 17 has a function for this, which knows only version 1.)
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

comment on function recall._uuid_time(uuid) is 'The time in a UUIDv7 (milliseconds).';
