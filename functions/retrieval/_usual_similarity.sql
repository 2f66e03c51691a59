-- Estimate the cosine of a query with unrelated memories.
-- It is the mean over the user's first ten vectors; twenty made a search by a vector 15 % slower.
-- It keeps texts of one language or person, which many models place close together, from passing as
-- answers. settings.unrelated_similarity counts as one more vector. So that users with few memories
-- or one subject find them, the mean stays within half a standard deviation below it and four
-- above.
create or replace function recall._usual_similarity(
    p_user_id   uuid,
    p_embedding recall.memory_embedding.embedding%type,
    p_settings  recall.settings
)
returns double precision
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_usual   double precision;
    v_vectors integer;
begin
    select sum(1 - recall._cosine_distance(v.embedding, p_embedding)), count(*)
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
    return least(0.95, p_settings.unrelated_similarity + 4 * p_settings.unrelated_deviation,
                 greatest(p_settings.unrelated_similarity - p_settings.unrelated_deviation / 2,
                          v_usual));
end;
$function$;

comment on function recall._usual_similarity(uuid, recall.memory_embedding.embedding%type,
    recall.settings) is
    'The cosine that a query has with unrelated memories.';
