-- Return the expiry of a session, rounded up to a day (UTC).
-- Steps of a day keep the appends of a day HOT, although an index contains expires_at. Lifetimes
-- under two days are exact. Immutable, since it adds in UTC, not in the time zone of the caller.
create or replace function recall._session_expiry(
    p_at   timestamptz,
    p_life interval
)
returns timestamptz
language sql
immutable
parallel safe
return case
    when p_life < interval '2 days' then date_add(p_at, p_life, 'UTC')
    else date_bin('1 day', date_add(p_at, p_life + interval '1 day', 'UTC'),
                  timestamptz '2000-01-01 00:00:00+00')
end;

comment on function recall._session_expiry(timestamptz, interval) is
    'Expiry of a session used at a time: rounded up to a day (UTC) for lifetimes of two days or '
    'more.';
