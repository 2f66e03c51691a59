-- Read a vector from text.
create or replace function recall._to_halfvec(
    p_text text
)
returns halfvec
language sql
immutable
strict
parallel safe
return p_text::halfvec;

comment on function recall._to_halfvec(text) is
    'Vector from its text (pgvector).';
