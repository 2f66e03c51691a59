-- Check the size and length of a vector.
-- The cosine of a zero vector is NaN, and NaN > 0.92 is true in PostgreSQL, so it would duplicate
-- everything. A halfvec cannot contain NaN or infinity. NULL passes (not embedded).
-- Raises  RC004.
create or replace function recall._check_embedding(
    p_embedding halfvec,
    p_what      text default 'embedding'
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_dimensions integer;
begin
    if p_embedding is null then
        return;
    end if;

    select s.embedding_dimensions into v_dimensions from recall.settings as s;

    if vector_dims(p_embedding) <> v_dimensions then
        raise exception using
            errcode = 'RC004',
            message = format('%s has %s dimensions, this database is installed for %s',
                             p_what, vector_dims(p_embedding), v_dimensions),
            hint    = 'Use the model in settings.embedding_model, or install with its dimensions.';
    end if;

    if l2_norm(p_embedding) = 0 then
        raise exception using
            errcode = 'RC004',
            message = format('%s is a zero vector', p_what),
            hint    = 'A zero vector has no direction. Leave it out if the text has no vector.';
    end if;
end;
$function$;

comment on function recall._check_embedding(halfvec, text) is
    'Reject a vector of the wrong size or of length zero (RC004); NULL passes.';
