-- List the registered models by name.
create or replace function recall.list_models()
returns table (
    model_id            text,
    context_window_size integer,
    tokenizer           text,
    input_price         bigint,
    cached_input_price  bigint,
    output_price        bigint
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select m.model_id, m.context_window_size, m.tokenizer, m.input_price, m.cached_input_price,
           m.output_price
      from recall.models as m
     order by m.model_id;
end;
$function$;

comment on function recall.list_models() is
    'Registered models by name: window in tokens, tiktoken encoding, prices in micro-cents per '
    'million tokens.';
