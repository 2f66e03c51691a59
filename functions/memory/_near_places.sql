-- recall._near_places(user, embeddings, models, distance) -> places of a batch that meet another
-- Those whose vector lies within the distance of an active memory's, or of an earlier one in the
-- batch. Vectors are compared alone, without looking at kinds, scopes and words.
create or replace function recall._near_places(
    p_user_id    uuid,
    p_embeddings halfvec[],
    p_models     text[],
    p_distance   real
)
returns integer[]
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
set enable_seqscan = off
set jit = off
as $function$
begin
    return array(
        with given as materialized (
            select g.place::integer as place, g.embedding, g.model
              from unnest(p_embeddings, p_models) with ordinality as g (embedding, model, place)
             where g.embedding is not null
        )
        select g.place
          from recall.memory_embedding as e
          join given as g
            on g.model = e.embedding_model and e.embedding <=> g.embedding <= p_distance
         where e.user_id = p_user_id
        union
        select later.place
          from given as earlier
          join given as later
            on later.place > earlier.place and later.model = earlier.model
               and later.embedding <=> earlier.embedding <= p_distance);
end;
$function$;

comment on function recall._near_places(uuid, halfvec[], text[], real) is
    'Places of a batch whose vectors are near a stored one or an earlier one of the batch.';
