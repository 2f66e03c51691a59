-- recall._embeddings_from_json(list) -> halfvec[], checked; NULL for none
-- Raises  RC003 no list, RC004 a vector that is none.
create or replace function recall._embeddings_from_json(
    p_list jsonb
)
returns halfvec[]
language plpgsql
stable
parallel safe
set search_path from current
as $function$
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
    return array(
        select recall._embedding_from_json(e.item, format('embeddings[%s]', e.ordinal - 1))
          from jsonb_array_elements(p_list) with ordinality as e (item, ordinal)
         order by e.ordinal);
end;
$function$;

comment on function recall._embeddings_from_json(jsonb) is
    'Vectors out of a JSON list, each checked (RC004); NULL for none.';
