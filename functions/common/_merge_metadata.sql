-- recall._merge_metadata(metadata, patch) -> both, the patch first
-- A null at the top of the patch removes its key; nulls further down are values and stay.
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
    'Metadata with a patch laid over it; a null in the patch removes the key.';
