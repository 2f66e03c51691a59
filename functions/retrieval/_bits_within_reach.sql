-- Return how many candidates may be as near as those found, by the bits in which they differ.
-- The reach is p_farthest, the bits of the farthest one found, and three standard deviations. All
-- are within reach where too few were found (NULL), or where nothing is known of bits.
create or replace function recall._bits_within_reach(
    p_farthest   double precision,
    p_near       recall.sign_neighbors,
    p_dimensions integer
)
returns integer
language sql
immutable
parallel safe
as $function$
    select coalesce(
        width_bucket(p_farthest + 3 * sqrt(p_farthest * (1 - p_farthest / p_dimensions)),
                     (p_near).distances),
        cardinality((p_near).memory_ids), 0);
$function$;

comment on function recall._bits_within_reach(double precision, recall.sign_neighbors, integer) is
    'How many candidates differ in few enough bits to be as near as those found.';
