-- Return numbers as a vector of items; NULL gives NULL.
-- Raises  RC004.
create or replace function recall._item_vector(
    p_numbers double precision[]
)
returns recall.item_vectors.embedding%type
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_vector recall.item_vectors.embedding%type;
begin
    v_vector := p_numbers;
    return v_vector;
exception when others then
    raise exception using
        errcode = 'RC004',
        message = format('p_query_embedding is not a vector: %s', sqlerrm),
        hint    = 'Pass an array of 1 to 16000 finite numbers.';
end;
$function$;

comment on function recall._item_vector(double precision[]) is
    'Numbers as a vector of items (RC004 when they are not one).';
