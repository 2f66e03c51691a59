-- Reject vectors of another model than settings.embedding_model.
-- Vectors of different models must never be compared.
-- Raises  RC004.
create or replace function recall._check_model(
    p_result   jsonb,
    p_settings recall.settings
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    if p_result ->> 'embedding_model' <> p_settings.embedding_model then
        raise exception using
            errcode = 'RC004',
            message = format('vectors of model %s, this database searches those of %s',
                             left(p_result ->> 'embedding_model', 80),
                             p_settings.embedding_model),
            hint    = 'Start the worker with that model, or change settings.embedding_model.';
    end if;
end;
$function$;

comment on function recall._check_model(jsonb, recall.settings) is
    'Reject vectors of another model than settings.embedding_model (RC004).';
