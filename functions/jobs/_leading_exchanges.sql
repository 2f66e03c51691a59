-- Return the messages of the first exchanges, each of which begins with a user message.
-- Without a user message there are none. Messages before the first user message belong to the first
-- exchange.
create or replace function recall._leading_exchanges(
    p_messages jsonb,
    p_count    integer
)
returns jsonb
language sql
immutable
parallel safe
return (
    select coalesce(jsonb_agg(m.message order by m.place) filter (
                        where m.number <= p_count and m.users > 0), '[]')
      from (
            select e.message, e.place,
                   count(*) filter (where e.message ->> 'role' = 'user')
                       over (order by e.place) as number,
                   count(*) filter (where e.message ->> 'role' = 'user') over () as users
              from jsonb_array_elements(p_messages) with ordinality as e (message, place)
           ) as m);

comment on function recall._leading_exchanges(jsonb, integer) is
    'Messages of the first exchanges; none without a user message.';
