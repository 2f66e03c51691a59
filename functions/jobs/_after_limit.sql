-- Return when a job that a daily limit holds back is looked at again.
-- After midnight (UTC); ten minutes at most, so that a limit that was raised takes effect soon.
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
    'When a job that waits for a daily limit is due again.';
