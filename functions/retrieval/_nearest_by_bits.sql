-- Return the memories whose vectors share most sign bits with a vector.
-- The index on the bits is a twentieth of the bytes of the vectors. v_bits is computed once, since
-- an expression over a parameter would be evaluated for every row. Below 256 dimensions the bits
-- say too little, and comparing the vectors is as fast.
create or replace function recall._nearest_by_bits(
    p_user_id   uuid,
    p_embedding halfvec,
    p_only      uuid[],
    p_limit     bigint,
    p_settings  recall.settings
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path from current
set enable_bitmapscan = off
set jit = off
as $function$
declare
    v_bits constant bit varying := binary_quantize(p_embedding);
begin
    if p_settings.embedding_dimensions < 256 then
        return array(
            select e.memory_id
              from recall.memory_embedding as e
             where e.user_id         = p_user_id
               and e.embedding_model = p_settings.embedding_model
               and (p_only is null or e.memory_id in (select o.id from unnest(p_only) as o (id)))
             order by e.embedding <=> p_embedding
             limit p_limit);
    end if;
    -- A statement of its own, since a condition on p_only takes a fifth of the scan.
    if p_only is null then
        return array(
            select e.memory_id
              from recall.memory_embedding as e
             where e.user_id         = p_user_id
               and e.embedding_model = p_settings.embedding_model
             order by e.bits <~> v_bits
             limit p_limit);
    end if;
    return array(
        select e.memory_id
          from recall.memory_embedding as e
         where e.user_id         = p_user_id
           and e.embedding_model = p_settings.embedding_model
           and e.memory_id in (select o.id from unnest(p_only) as o (id))
         order by e.bits <~> v_bits
         limit p_limit);
end;
$function$;

comment on function recall._nearest_by_bits(uuid, halfvec, uuid[], bigint, recall.settings) is
    'The memories whose vectors share most sign bits with a vector.';
