-- Estimate the cosine that a query has with memories it has nothing to do with.
-- It is the mean over the user's first ten vectors (with twenty, a search by a vector took 15 %
-- longer), so that texts of one language or one person, which many models put near each other, do
-- not pass for answers. settings.unrelated_similarity counts as one more vector and bounds the
-- mean: from half a standard deviation below it to three above, so that a user with few memories,
-- or of one subject only, still finds them.
create or replace function recall._usual_similarity(
    p_user_id   uuid,
    p_embedding halfvec,
    p_settings  recall.settings
)
returns double precision
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_usual   double precision;
    v_vectors integer;
begin
    select sum(1 - (v.embedding <=> p_embedding)), count(*)
      into v_usual, v_vectors
      from (
            select e.embedding
              from recall.memory_embedding as e
             where e.user_id         = p_user_id
               and e.embedding_model = p_settings.embedding_model
             order by e.memory_id
             limit 10
           ) as v;
    v_usual := (p_settings.unrelated_similarity + coalesce(v_usual, 0)) / (1 + v_vectors);
    return least(0.95, p_settings.unrelated_similarity + 3 * p_settings.unrelated_deviation,
                 greatest(p_settings.unrelated_similarity - p_settings.unrelated_deviation / 2,
                          v_usual));
end;
$function$;

comment on function recall._usual_similarity(uuid, halfvec, recall.settings) is
    'The cosine that a query has with memories it has nothing to do with.';
