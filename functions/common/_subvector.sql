-- Return a part of a vector; its first dimension is 1.
create or replace function recall._subvector(
    p_embedding halfvec,
    p_start     integer,
    p_count     integer
)
returns halfvec
language sql
immutable
strict
parallel safe
return subvector(p_embedding, p_start, p_count);

comment on function recall._subvector(halfvec, integer, integer) is
    'Part of a vector (pgvector).';
