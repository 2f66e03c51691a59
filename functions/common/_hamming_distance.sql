-- Return in how many bits two strings of sign bits differ.
create or replace function recall._hamming_distance(
    p_a bit varying,
    p_b bit varying
)
returns double precision
language sql
immutable
strict
parallel safe
return p_a <~> p_b;

comment on function recall._hamming_distance(bit varying, bit varying) is
    'Number of bits in which two strings of sign bits differ (pgvector).';
