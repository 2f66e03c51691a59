-- Return the positions in a batch whose memory may state the same as another one.
-- Its vector is within p_distance of an active memory's or of an earlier one in the batch. Beyond
-- 0.08 most words must be shared, too. recall._place_memory checks kinds, scopes and the guard.
create or replace function recall._near_places(
    p_user_id    uuid,
    p_contents   text[],
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
            select g.place::integer as place, g.content, g.embedding, g.model
              from unnest(p_contents, p_embeddings, p_models)
                   with ordinality as g (content, embedding, model, place)
             where g.embedding is not null
        ), near as materialized (
            select g.place, g.content, e.memory_id, e.embedding <=> g.embedding as distance
              from recall.memory_embedding as e
              join given as g
                on g.model = e.embedding_model and e.embedding <=> g.embedding <= p_distance
             where e.user_id = p_user_id
        )
        -- The subquery reads single contents after the vectors, so that no plan reads them all.
        select n.place
          from near as n
         where n.distance <= 0.08
            or recall._shares_words(
                   recall._word_heads(n.content),
                   recall._word_heads((select m.content
                                         from recall.memory_store as m
                                        where m.user_id   = p_user_id
                                          and m.memory_id = n.memory_id)))
        union
        select later.place
          from given as earlier
          join given as later
            on later.place > earlier.place and later.model = earlier.model
               and later.embedding <=> earlier.embedding <= p_distance
         where later.embedding <=> earlier.embedding <= 0.08
            or recall._shares_words(recall._word_heads(later.content),
                                    recall._word_heads(earlier.content)));
end;
$function$;

comment on function recall._near_places(uuid, text[], halfvec[], text[], real) is
    'Positions in a batch whose vectors and words are near a stored memory or an earlier one.';
