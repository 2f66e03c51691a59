-- Check the form of a wrapped data encryption key.
-- Raises  RC003
create or replace function recall._check_wrapped_key(
    p_wrapped_key  bytea,
    p_wrapping_key text
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_wrapped_key is null or octet_length(p_wrapped_key) not between 40 and 10000
       or p_wrapping_key is null or length(p_wrapping_key) not between 1 and 200 then
        raise exception using
            errcode = 'RC003',
            message = 'the wrapped key or the name of its key encryption key is not valid',
            hint    = 'seal_user of the driver makes both: 40 to 10000 bytes, 1 to 200 characters.';
    end if;
end;
$function$;

comment on function recall._check_wrapped_key(bytea, text) is
    'Reject a malformed wrapped key (RC003).';
