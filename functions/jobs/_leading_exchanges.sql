-- Return the messages of the first exchanges, each of which begins with a message of the user.
-- None when the user said nothing; what was said before his first message goes with the first.
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
    'Messages of the first exchanges; none when the user said nothing.';
