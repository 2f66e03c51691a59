-- Return how many exchanges an attempt reads: all of them twice, then half, a quarter, and so on.
create or replace function recall._attempt_share(
    p_messages jsonb,
    p_attempts integer
)
returns integer
language sql
immutable
parallel safe
return (
    select greatest(1, count(*)::integer >> greatest(0, least(p_attempts, 30) - 2))
      from jsonb_array_elements(p_messages) as e (message)
     where e.message ->> 'role' = 'user');

comment on function recall._attempt_share(jsonb, integer) is
    'Number of exchanges that an attempt of an extraction reads: all of them twice, then half as '
    'many each time.';
