-- Return the turns that a model cites and was shown, each once, in their order.
create or replace function recall._known_turns(
    p_cited jsonb,
    p_shown jsonb
)
returns jsonb
language sql
immutable
parallel safe
return (
    select coalesce(jsonb_agg(s.turn order by s.turn::integer), '[]')
      from jsonb_array_elements(p_shown) as s (turn)
     where p_cited @> s.turn);

comment on function recall._known_turns(jsonb, jsonb) is
    'Turns that a model cites and was shown, each once, in their order.';
