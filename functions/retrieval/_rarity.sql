-- Return the weight of a word by the number of texts that contain it, as in BM25; never negative.
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
    'The BM25 weight of a word by the number of texts that contain it.';
