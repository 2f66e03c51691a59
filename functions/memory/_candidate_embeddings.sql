-- Return one vector or NULL for each candidate, from an array or from inside the candidates.
-- They are parsed and checked once, before anything is locked.
-- Raises  RC003 an array of another length, RC004.
create or replace function recall._candidate_embeddings(
    p_candidates jsonb,
    p_embeddings halfvec[]
)
returns halfvec[]
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_count integer := jsonb_array_length(p_candidates);
begin
    if p_embeddings is null then
        return array(
            select recall._embedding_from_json(e.candidate -> 'embedding',
                                               format('embedding of element [%s]', e.ordinal - 1))
              from jsonb_array_elements(p_candidates) with ordinality as e (candidate, ordinal)
             order by e.ordinal);
    end if;

    if cardinality(p_embeddings) <> v_count then
        raise exception using
            errcode = 'RC003',
            message = format('%s embeddings for %s elements', cardinality(p_embeddings), v_count),
            hint    = 'p_embeddings has one vector or NULL for each, in the same order.';
    end if;
    perform recall._check_embedding(e.embedding, format('p_embeddings[%s]', e.ordinal))
       from unnest(p_embeddings) with ordinality as e (embedding, ordinal);
    return p_embeddings;
end;
$function$;

comment on function recall._candidate_embeddings(jsonb, halfvec[]) is
    'Vectors of candidates from the array or from the candidates, checked (RC003, RC004).';
