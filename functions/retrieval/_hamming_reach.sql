-- Return how many sign bits may differ between two vectors within a cosine distance.
-- At an angle θ each bit differs with probability p = θ / π (M. Charikar, "Similarity Estimation
-- Techniques from Rounding Algorithms", 2002). Of d bits these are d·p, and hardly ever more than
-- three standard deviations √(d·p·(1 − p)) above.
create or replace function recall._hamming_reach(
    p_distance   double precision,
    p_dimensions integer
)
returns double precision
language sql
immutable
parallel safe
return (
    select p_dimensions * s.share + 3 * sqrt(p_dimensions * s.share * (1 - s.share))
      from (select acos(1 - p_distance) / pi()) as s (share));

comment on function recall._hamming_reach(double precision, integer) is
    'Sign bits (of all dimensions) that may differ between two vectors within a cosine distance (0 '
    'to 2), with near certainty.';
