-- Return the sign bits of a vector.
create or replace function recall._binary_quantize(
    p_embedding halfvec
)
returns bit varying
language sql
immutable
strict
parallel safe
return binary_quantize(p_embedding);

comment on function recall._binary_quantize(halfvec) is
    'Sign bits of a vector (pgvector).';
