-- Return one vector or NULL for each candidate, from an array or from inside the candidates.
-- They are parsed and checked once, before anything is locked. A candidate may name their model.
-- Raises  RC003 an array of another length, RC004.
create or replace function recall._candidate_embeddings(
    p_candidates jsonb,
    p_embeddings recall.jobs.vectors%type,
    p_settings   recall.settings
)
returns recall.jobs.vectors%type
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_count integer := jsonb_array_length(p_candidates);
    v_model text    := p_settings.embedding_model;
begin
    if p_embeddings is null then
        p_embeddings := array(
            select recall._embedding_from_json(
                       e.candidate -> 'embedding',
                       format('embedding of element [%s]', e.ordinal - 1), m.model,
                       recall._model_dimensions(m.model, p_settings))
              from jsonb_array_elements(p_candidates) with ordinality as e (candidate, ordinal)
             cross join lateral (
                    select coalesce(e.candidate ->> 'embedding_model', v_model)
                   ) as m (model)
             order by e.ordinal);
    elsif cardinality(p_embeddings) <> v_count then
        raise exception using
            errcode = 'RC003',
            message = format('%s embeddings for %s elements', cardinality(p_embeddings), v_count),
            hint    = 'p_embeddings has one vector or NULL for each, in the same order.';
    end if;

    perform case
                when e.candidate ->> 'embedding_model' is null
                then recall._check_embedding(
                         p_embeddings[e.ordinal], format('p_embeddings[%s]', e.ordinal), p_settings)
                else recall._check_vector(
                         p_embeddings[e.ordinal], format('p_embeddings[%s]', e.ordinal),
                         e.candidate ->> 'embedding_model',
                         recall._model_dimensions(e.candidate ->> 'embedding_model', p_settings))
            end
       from jsonb_array_elements(p_candidates) with ordinality as e (candidate, ordinal)
      where p_embeddings[e.ordinal] is not null;
    return p_embeddings;
end;
$function$;

comment on function recall._candidate_embeddings(jsonb, recall.jobs.vectors%type,
    recall.settings) is
    'Vectors of candidates from the array or from the candidates, checked (RC003, RC004).';
