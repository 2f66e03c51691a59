-- Return the messages of the first exchanges that an attempt reads, at most p_most exchanges.
-- Two attempts read all exchanges, the third one half of them, then a quarter, and so on. An
-- exchange begins with a user message; the first one includes the messages before it. Without a
-- user message there are none.
create or replace function recall._leading_exchanges(
    p_messages jsonb,
    p_most     integer,
    p_attempts integer
)
returns jsonb
language sql
immutable
parallel safe
return (
    select coalesce(jsonb_agg(m.message order by m.place) filter (
                        where m.users > 0
                          and m.number <= least(p_most, greatest(1, m.users >> greatest(
                                  0, least(p_attempts, 30) - 2)))), '[]')
      from (
            select e.message, e.place,
                   count(*) filter (where e.message ->> 'role' = 'user')
                       over (order by e.place) as number,
                   (count(*) filter (where e.message ->> 'role' = 'user') over ())::integer
                       as users
              from jsonb_array_elements(p_messages) with ordinality as e (message, place)
           ) as m);

comment on function recall._leading_exchanges(jsonb, integer, integer) is
    'Messages of the first exchanges that an attempt reads; none without a user message.';
