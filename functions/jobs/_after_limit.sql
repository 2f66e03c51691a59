-- Return the time at which a job held back by a daily limit is due again.
-- It is the next midnight (UTC), but at most ten minutes away: a raised limit takes effect soon.
create or replace function recall._after_limit(
    p_now timestamptz
)
returns timestamptz
language sql
immutable
parallel safe
return least(date_add(date_trunc('day', p_now, 'UTC'), interval '1 day', 'UTC'),
             p_now + interval '10 minutes');

comment on function recall._after_limit(timestamptz) is
    'Time at which a job that waits for a daily limit is due again: midnight (UTC), at most ten '
    'minutes from p_now.';
