-- Merge a patch into metadata.
-- A null at the top level of the patch removes its key; nested nulls are values and stay.
create or replace function recall._merge_metadata(
    p_metadata jsonb,
    p_patch    jsonb
)
returns jsonb
language sql
immutable
parallel safe
return (p_metadata || p_patch)
       - array(select e.key from jsonb_each(p_patch) as e where e.value = 'null');

comment on function recall._merge_metadata(jsonb, jsonb) is
    'Metadata merged with a patch; a null in the patch removes the key.';
