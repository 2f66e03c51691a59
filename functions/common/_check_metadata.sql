-- Reject metadata that is not a JSON object, or has more than a million characters.
-- Raises  RC003.
create or replace function recall._check_metadata(
    p_metadata   jsonb,
    p_is_bounded boolean default true
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_metadata is null or jsonb_typeof(p_metadata) <> 'object' then
        raise exception using
            errcode = 'RC003',
            message = format('metadata is %s, not a JSON object',
                             coalesce(jsonb_typeof(p_metadata), 'null')),
            hint    = 'Pass an object such as ''{}''.';
    end if;
    -- A byte of jsonb has at most 34 characters of JSON (_check_message_sizes). #> '{}' is there to
    -- decompress a value from a table. Of ciphertexts the driver counts the characters.
    if p_is_bounded and pg_column_size(p_metadata #> '{}') > 1000000 / 34
       and length(p_metadata::text) > 1000000 and p_metadata::text not like '%"sealed:v1:%' then
        raise exception using
            errcode = 'RC003',
            message = format('metadata has %s characters, more than 1000000',
                             length(p_metadata::text)),
            hint    = 'Keep large values elsewhere, and a reference to them here.';
    end if;
end;
$function$;

comment on function recall._check_metadata(jsonb, boolean) is
    'Reject metadata that is not a JSON object (RC003).';
