-- Return the memories whose vectors share most sign bits with a vector, nearest first.
-- They are rerank_candidates, or 16 times the limit of the search if that is more. The index on
-- the bits is a twentieth of the bytes of the vectors. Below 256 dimensions the bits say too
-- little, and comparing the vectors is as fast. The distances are NULL then.
create or replace function recall._nearest_by_bits(
    p_user_id   uuid,
    p_embedding recall.memory_embedding.embedding%type,
    p_only      uuid[],
    p_limit     integer,
    p_settings  recall.settings
)
returns recall.sign_neighbors
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set enable_bitmapscan = off
set jit = off
as $function$
declare
    -- Variables: an expression over a parameter would be evaluated for every row.
    v_bits  constant bit varying := recall._binary_quantize(p_embedding);
    v_model constant text        := p_settings.embedding_model;
    v_limit constant bigint      := greatest(p_settings.rerank_candidates, 16 * p_limit::bigint);
    v_near  recall.sign_neighbors;
begin
    if p_settings.embedding_dimensions < 256 then
        v_near.memory_ids := array(
            select e.memory_id
              from recall.memory_embedding as e
             where e.user_id         = p_user_id
               and e.embedding_model = p_settings.embedding_model
               and (p_only is null or e.memory_id in (select o.id from unnest(p_only) as o (id)))
             order by recall._cosine_distance(e.embedding, p_embedding)
             limit v_limit);
        return v_near;
    end if;
    -- PostgreSQL 18 uses "=" as an index condition and tries to skip to the model within each
    -- memory, which takes 1.15 times as long. It never uses "is not distinct from" so. The two
    -- statements differ only in the condition on p_only, which takes a fifth of the scan.
    if p_only is null then
        select array_agg(n.memory_id), array_agg(n.distance)
          into v_near.memory_ids, v_near.distances
          from (
                select e.memory_id, recall._hamming_distance(e.bits, v_bits) as distance
                  from recall.memory_embedding as e
                 where e.user_id         = p_user_id
                   and e.embedding_model is not distinct from v_model
                 order by distance
                 limit v_limit
               ) as n;
        return v_near;
    end if;
    select array_agg(n.memory_id), array_agg(n.distance)
      into v_near.memory_ids, v_near.distances
      from (
            select e.memory_id, recall._hamming_distance(e.bits, v_bits) as distance
              from recall.memory_embedding as e
             where e.user_id         = p_user_id
               and e.embedding_model is not distinct from v_model
               and e.memory_id in (select o.id from unnest(p_only) as o (id))
             order by distance
             limit v_limit
           ) as n;
    return v_near;
end;
$function$;

comment on function recall._nearest_by_bits(uuid, recall.memory_embedding.embedding%type, uuid[],
    integer, recall.settings) is
    'The memories whose vectors share most sign bits with a vector, nearest first.';
