-- Return the number of dimensions of a vector.
create or replace function recall._vector_dims(
    p_embedding halfvec
)
returns integer
language sql
immutable
strict
parallel safe
return vector_dims(p_embedding);

comment on function recall._vector_dims(halfvec) is
    'Number of dimensions of a vector (pgvector).';
