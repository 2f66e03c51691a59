-- Check the dimensions and the length of a vector of a model.
-- The cosine of a zero vector is NaN, and NaN > 0.92 is true in PostgreSQL, so it would duplicate
-- everything. A halfvec cannot contain NaN or infinity. NULL passes (not embedded).
-- Raises  RC004.
create or replace function recall._check_vector(
    p_embedding  recall.memory_embedding.embedding%type,
    p_what       text,
    p_model      text,
    p_dimensions integer
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if recall._vector_dims(p_embedding) <> p_dimensions then
        raise exception using
            errcode = 'RC004',
            message = format('%s has %s dimensions, vectors of %s have %s',
                             p_what, recall._vector_dims(p_embedding), p_model, p_dimensions),
            hint    = 'Use the model in settings.embedding_model, or change the model: pgrecall '
                      'embeddings migrate';
    end if;

    if recall._l2_norm(p_embedding) = 0 then
        raise exception using
            errcode = 'RC004',
            message = format('%s is a zero vector', p_what),
            hint    = 'A zero vector has no direction. Leave it out if the text has no vector.';
    end if;
end;
$function$;

comment on function recall._check_vector(recall.memory_embedding.embedding%type, text, text,
    integer) is
    'Reject a vector with other dimensions than its model or of length zero (RC004); NULL passes.';
