-- Return the length at which texts for the worker's embedder are cut.
-- It is three characters per token of the embedder's limit, since most texts have more.
create or replace function recall._embed_characters(
    p_work jsonb
)
returns integer
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return least(recall._model_window(p_work, 'embed')::bigint * 3, 1000000);
end;
$function$;

comment on function recall._embed_characters(jsonb) is
    'Length at which texts for a worker''s embedder are cut.';
