-- Check that a vector of a caller is of the current model, and its dimensions; NULL passes.
-- A driver names the model in the transaction (recall.embedding_model), since a cached model may
-- have been replaced meanwhile. The name is a label: it selects no data. A vector of another model
-- would be compared without an error where the dimensions are equal.
-- Raises  RC004; its detail is the name of the current model when the caller has named another one.
create or replace function recall._check_embedding(
    p_embedding recall.memory_embedding.embedding%type,
    p_what      text,
    p_settings  recall.settings
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_model constant text := current_setting('recall.embedding_model', true);
begin
    if p_embedding is null then
        return;
    end if;

    if v_model <> p_settings.embedding_model and v_model <> '' then
        raise exception using
            errcode = 'RC004',
            message = format('%s is a vector of %s, vectors of %s are compared',
                             p_what, left(v_model, 200), p_settings.embedding_model),
            detail  = p_settings.embedding_model,
            hint    = 'Embed the text again with the model that the detail names.';
    end if;
    perform recall._check_vector(p_embedding, p_what, p_settings.embedding_model,
                                 p_settings.embedding_dimensions);
end;
$function$;

comment on function recall._check_embedding(recall.memory_embedding.embedding%type, text,
    recall.settings) is
    'Reject a vector of another model, of the wrong size or of length zero (RC004); NULL passes.';
