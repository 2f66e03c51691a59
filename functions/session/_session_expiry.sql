-- recall._session_expiry(at, life) -> the time, rounded up to a day (UTC)
-- Sliding in steps of a day keeps the appends of a day HOT, although an index names expires_at.
-- Lives under two days are exact.
create or replace function recall._session_expiry(
    p_at   timestamptz,
    p_life interval
)
returns timestamptz
language sql
stable
parallel safe
return case
    when p_life < interval '2 days' then p_at + p_life
    else date_trunc('day', date_add(p_at + p_life, interval '1 day', 'UTC'), 'UTC')
end;

comment on function recall._session_expiry(timestamptz, interval) is
    'When a session used at a time expires: rounded up to a day (UTC) for lives of two days or '
    'more.';
