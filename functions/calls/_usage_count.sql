-- Return the first of these numbers that usage has; NULL when it has none.
-- Providers name the same count differently.
create or replace function recall._usage_count(
    p_usage jsonb,
    p_paths text[]
)
returns integer
language sql
immutable
parallel safe
begin atomic
    select (p_usage #>> string_to_array(n.path, '.'))::integer
      from unnest(p_paths) with ordinality as n (path, place)
     where p_usage #>> string_to_array(n.path, '.') ~ '^[0-9]{1,9}$'
     order by n.place
     limit 1;
end;

comment on function recall._usage_count(jsonb, text[]) is
    'A count in usage, under the first of several names that holds a number; NULL when none '
    'does.';
