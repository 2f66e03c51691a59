-- Return the next batch of a step's texts as an embed request.
-- An endpoint that finds a text too long reports it.
create or replace function recall._embed_request(
    p_work  jsonb,
    p_embed jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_batch constant integer := coalesce((p_work #>> '{worker,embed_batch}')::integer, 64);
    v_chars constant integer := recall._embed_characters(p_work);
begin
    return (
        select jsonb_build_object(
                   'type', 'embed', 'purpose', 'embed',
                   'model', p_work #> '{worker,embedding_model}',
                   'inputs', jsonb_agg(
                       case when jsonb_typeof(e.item) = 'string'
                            then to_jsonb(left(e.item #>> '{}', v_chars))
                            else e.item || jsonb_build_object('max_characters', v_chars) end
                       order by e.place))
          from jsonb_array_elements(p_embed -> 'texts') with ordinality as e (item, place)
         where e.place <= v_batch);
end;
$function$;

comment on function recall._embed_request(jsonb, jsonb) is
    'The next batch of a step''s texts as an embed request.';
