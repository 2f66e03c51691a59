-- Read a list of vectors from JSON, and check each; NULL without a list.
-- Raises  RC003 not a list, RC004 a malformed vector.
create or replace function recall._embeddings_from_json(
    p_list       jsonb,
    p_model      text,
    p_dimensions integer
)
returns recall.jobs.vectors%type
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_embeddings recall.memory_embedding.embedding%type[];
begin
    if p_list is null or p_list = 'null' then
        return null;
    end if;
    if jsonb_typeof(p_list) <> 'array' then
        raise exception using
            errcode = 'RC003',
            message = format('embeddings is %s', jsonb_typeof(p_list)),
            hint    = 'Pass a list of vectors, in the order of the texts.';
    end if;
    -- Cast all at once, which takes a fifth less; on failure, find the malformed one.
    begin
        v_embeddings := array(
            select recall._to_halfvec(e.item)
              from jsonb_array_elements_text(p_list) with ordinality as e (item, ordinal)
             order by e.ordinal);
        if not exists (
            select from unnest(v_embeddings) as v (embedding)
             where recall._vector_dims(v.embedding) <> p_dimensions
                or recall._l2_norm(v.embedding) = 0
        ) then
            return v_embeddings;
        end if;
    exception when others then
        null;
    end;
    return array(
        select recall._embedding_from_json(e.item, format('embeddings[%s]', e.ordinal - 1), p_model,
                                           p_dimensions)
          from jsonb_array_elements(p_list) with ordinality as e (item, ordinal)
         order by e.ordinal);
end;
$function$;

comment on function recall._embeddings_from_json(jsonb, text, integer) is
    'Vectors from a JSON list, each checked (RC004); NULL without a list.';
