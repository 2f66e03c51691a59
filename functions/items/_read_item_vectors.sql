-- Return the vectors of valid items as rows, of each namespace and key those that stand last.
-- Raises  RC003 a path that stands twice, RC004 a malformed vector.
create or replace function recall._read_item_vectors(
    p_user_id uuid,
    p_items   jsonb,
    p_model   text
)
returns setof recall.item_vectors
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_row    recall.item_vectors;
    v_vector record;
begin
    v_row.user_id         := p_user_id;
    v_row.embedding_model := p_model;
    for v_vector in
        select i.item -> 'namespace' as labels, i.item ->> 'key' as key, v.item ->> 'path' as path,
               v.item ->> 'embedding' as embedding,
               count(*) over (partition by i.item -> 'namespace', i.item -> 'key',
                                           v.item -> 'path') as times
          from (
                select distinct on (e.item -> 'namespace', e.item -> 'key') e.item
                  from jsonb_array_elements(p_items) with ordinality as e (item, ordinal)
                 order by e.item -> 'namespace', e.item -> 'key', e.ordinal desc
               ) as i
         cross join lateral jsonb_array_elements(nullif(i.item -> 'vectors', 'null')) as v (item)
    loop
        if v_vector.times > 1 then
            raise exception using
                errcode = 'RC003',
                message = format('the path %s of item %s has two vectors',
                                 quote_literal(left(v_vector.path, 80)),
                                 quote_literal(left(v_vector.key, 80))),
                hint    = 'Pass one vector for each path of an item.';
        end if;
        v_row.namespace := array(select jsonb_array_elements_text(v_vector.labels));
        v_row.key       := v_vector.key;
        v_row.path      := v_vector.path;
        begin
            v_row.embedding := recall._to_vector(v_vector.embedding);
        exception when others then
            raise exception using
                errcode = 'RC004',
                message = format('the vector %s of item %s is not a vector: %s',
                                 quote_literal(left(v_vector.path, 80)),
                                 quote_literal(left(v_vector.key, 80)),
                                 split_part(sqlerrm, ': "', 1)),
                hint    = 'Pass an array of 1 to 16000 finite numbers.';
        end;
        return next v_row;
    end loop;
end;
$function$;

comment on function recall._read_item_vectors(uuid, jsonb, text) is
    'Vectors of items of put_items as rows (RC003 for a repeated path, RC004 for a malformed '
    'vector).';
