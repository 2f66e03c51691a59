-- Remove the null keys of an object, but not those of nested objects.
-- jsonb_strip_nulls also removes nulls inside metadata.
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
    'An object without its null keys; nested objects stay as they are.';
