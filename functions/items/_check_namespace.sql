-- Reject a namespace, prefix or suffix with a NULL or empty label, or of several dimensions.
-- Raises  RC003.
create or replace function recall._check_namespace(
    p_namespace text[],
    p_what      text
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_namespace is null or array_ndims(p_namespace) > 1
       or array_position(p_namespace, null) is not null or '' = any (p_namespace) then
        raise exception using
            errcode = 'RC003',
            message = format('%s is %s', p_what,
                             coalesce(quote_literal(left(p_namespace::text, 80)), 'null')),
            hint    = 'A namespace is a list of labels, none of them empty.';
    end if;
end;
$function$;

comment on function recall._check_namespace(text[], text) is
    'Reject a malformed namespace, prefix or suffix (RC003).';
