-- Return the length of a vector.
create or replace function recall._l2_norm(
    p_embedding halfvec
)
returns double precision
language sql
immutable
strict
parallel safe
return l2_norm(p_embedding);

comment on function recall._l2_norm(halfvec) is
    'Euclidean length of a vector (pgvector).';
