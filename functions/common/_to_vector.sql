-- Read a vector of items from text.
create or replace function recall._to_vector(
    p_text text
)
returns vector
language sql
immutable
strict
parallel safe
return p_text::vector;

comment on function recall._to_vector(text) is
    'Vector of items from its text (pgvector).';
