-- Return the whole number of zero or more at a key of an object, or NULL.
-- Raises  RC003.
create or replace function recall._integer(
    p_object jsonb,
    p_key    text
)
returns integer
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    if coalesce(p_object ->> p_key, '0') !~ '^[0-9]{1,9}$' then
        raise exception using
            errcode = 'RC003',
            message = format('%s is %s', p_key, left(p_object ->> p_key, 80)),
            hint    = 'Pass a whole number of zero or more.';
    end if;
    return (p_object ->> p_key)::integer;
end;
$function$;

comment on function recall._integer(jsonb, text) is
    'Whole number of zero or more at a key of an object; RC003 for another value.';
