-- Return the question for vectors of texts that have none; NULL when none is needed or available.
-- None is available when the worker lacks this database's embedder or the user's vectors are not
-- stored.
create or replace function recall._vectors_wanted(
    p_work    jsonb,
    p_vectors recall.jobs.vectors%type,
    p_texts   jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $function$
    select case
        when jsonb_array_length(p_texts) > coalesce(cardinality(p_vectors), 0)
             and p_work @> '{"has_embedder": true, "has_vectors": true}'
        then jsonb_build_object('embed', jsonb_build_object('texts', (
            select jsonb_agg(case when p_work -> 'is_sealed' = 'true'
                                  then jsonb_build_object('ciphertext', t.text) else t.text end
                             order by t.place)
              from jsonb_array_elements(p_texts) with ordinality as t (text, place)
             where t.place > coalesce(cardinality(p_vectors), 0))))
    end;
$function$;

comment on function recall._vectors_wanted(jsonb, recall.jobs.vectors%type, jsonb) is
    'Question for vectors of texts; NULL when all exist, or none can be had.';
