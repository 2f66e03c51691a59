-- recall._without_nulls(object) -> the object without the keys that are null
-- (jsonb_strip_nulls would also go into metadata.)
create or replace function recall._without_nulls(
    p_object jsonb
)
returns jsonb
language sql
immutable
parallel safe
return (
    select coalesce(jsonb_object_agg(k.key, k.value), '{}')
      from jsonb_each(p_object) as k
     where k.value <> 'null'
);

comment on function recall._without_nulls(jsonb) is
    'An object without its null keys, not going deeper.';
