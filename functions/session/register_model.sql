-- Register a model, or change it.
-- Raises  RC003.
create or replace function recall.register_model(
    p_model_id            text,
    p_context_window_size integer,
    p_tokenizer           text   default null,
    p_input_price         bigint default 0,
    p_cached_input_price  bigint default null,
    p_output_price        bigint default 0
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._check_text(p_tokenizer, 'p_tokenizer');
    if p_model_id is null or p_model_id = '' or p_context_window_size is null
       or p_context_window_size <= 0
       or octet_length(p_model_id) > 200
       or least(p_input_price, p_cached_input_price, p_output_price) < 0
       or greatest(p_input_price, p_cached_input_price, p_output_price) > 1000000000000
       or p_input_price is null or p_output_price is null then
        raise exception using
            errcode = 'RC003',
            message = format('model %L with window %s and prices %s, %s, %s',
                             left(p_model_id, 80), p_context_window_size, p_input_price,
                             p_cached_input_price, p_output_price),
            hint    = 'A name of at most 200 bytes, a window above zero (tokens), prices of 0 to '
                      '1000000000000 (micro-cents per million tokens).';
    end if;

    insert into recall.models as m (model_id, context_window_size, tokenizer, input_price,
                                    cached_input_price, output_price)
    values (p_model_id, p_context_window_size, p_tokenizer, p_input_price,
            coalesce(p_cached_input_price, p_input_price), p_output_price)
    on conflict (model_id) do update
       set context_window_size = excluded.context_window_size,
           tokenizer           = coalesce(excluded.tokenizer, m.tokenizer),
           input_price         = excluded.input_price,
           cached_input_price  = excluded.cached_input_price,
           output_price        = excluded.output_price;
end;
$function$;

comment on function recall.register_model(text, integer, text, bigint, bigint, bigint) is
    'Register a model, or change it: window in tokens, tiktoken encoding, prices in micro-cents '
    'per million tokens. RC003: a bad value.';
