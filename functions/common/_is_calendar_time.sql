-- Tell whether a JSON value is a text with a time of the years 1 to 9999.
-- It must be in this range in every time zone: otherwise drivers whose calendar ends there could
-- not read the row, or a list with it. Infinity is not.
create or replace function recall._is_calendar_time(
    p_value jsonb
)
returns boolean
language sql
stable
parallel safe
return case
    when jsonb_typeof(p_value) = 'string' and pg_input_is_valid(p_value #>> '{}', 'timestamptz')
        then (p_value #>> '{}')::timestamptz
             between '0001-01-01T12:00:00Z' and '9999-12-31T09:59:59Z'
    else false
end;

comment on function recall._is_calendar_time(jsonb) is
    'Whether a JSON value is a time of the years 1 to 9999.';
