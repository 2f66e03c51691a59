-- recall._rarity(texts, found) -> what a word counts that so many of the texts have
-- The weight of BM25, never negative.
create or replace function recall._rarity(
    p_texts double precision,
    p_found double precision
)
returns double precision
language sql
immutable
parallel safe
return ln(1 + (p_texts - p_found + 0.5) / (p_found + 0.5));

comment on function recall._rarity(double precision, double precision) is
    'The weight of a word by how many of the texts have it, as in BM25.';
