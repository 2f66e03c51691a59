-- Return whether two vectors are equal in every dimension.
create or replace function recall._is_same_vector(
    p_a halfvec,
    p_b halfvec
)
returns boolean
language sql
immutable
strict
parallel safe
return p_a = p_b;

comment on function recall._is_same_vector(halfvec, halfvec) is
    'Whether two vectors are equal in every dimension (pgvector).';
