-- Return the error text of a reached daily cost limit, for last_error.
create or replace function recall._limit_text(
    p_whose text,
    p_spent bigint,
    p_limit bigint,
    p_now   timestamptz
)
returns text
language sql
immutable
parallel safe
return format('RC005 the jobs of %s have spent %s micro-cents on models on %s (UTC), the daily '
              'limit is %s', case p_whose when 'user' then 'this user' else 'all users' end,
              p_spent, (p_now at time zone 'UTC')::date, p_limit);

comment on function recall._limit_text(text, bigint, bigint, timestamptz) is
    'Error text of a reached daily cost limit, for last_error.';
