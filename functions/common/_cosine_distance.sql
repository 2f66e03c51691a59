-- Return the cosine distance of two vectors.
create or replace function recall._cosine_distance(
    p_a halfvec,
    p_b halfvec
)
returns double precision
language sql
immutable
strict
parallel safe
return p_a <=> p_b;

comment on function recall._cosine_distance(halfvec, halfvec) is
    'Cosine distance of two vectors (pgvector).';
