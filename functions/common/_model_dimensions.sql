-- Return the dimensions of the vectors of a model.
-- They are known for the current model and those of a change of the model. Vectors of any other
-- model, which no search compares, have as many as the current one.
create or replace function recall._model_dimensions(
    p_model    text,
    p_settings recall.settings
)
returns integer
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_model = p_settings.embedding_model then
        return p_settings.embedding_dimensions;
    end if;
    return coalesce((
        select case p_model when m.to_model then m.to_dimensions else m.from_dimensions end
          from recall.embedding_migrations as m
         where p_model in (m.from_model, m.to_model)
         order by m.started_at desc
         limit 1), p_settings.embedding_dimensions);
end;
$function$;

comment on function recall._model_dimensions(text, recall.settings) is
    'Dimensions of the vectors of a model.';
