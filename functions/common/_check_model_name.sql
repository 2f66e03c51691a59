-- Reject a name of an embedding model that no index can hold beside its other columns.
-- Raises  RC003.
create or replace function recall._check_model_name(
    p_model text,
    p_what  text
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if octet_length(p_model) not between 1 and 200 then
        raise exception using
            errcode = 'RC003',
            message = format('%s is %s, with %s bytes', p_what, quote_literal(left(p_model, 80)),
                             octet_length(p_model)),
            hint    = 'A name of a model has 1 to 200 bytes.';
    end if;
end;
$function$;

comment on function recall._check_model_name(text, text) is
    'Reject a name of a model that is empty or has more than 200 bytes (RC003).';
