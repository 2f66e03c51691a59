-- Check the time that a sweep is called with.
-- Sweeps add to it and subtract from it.
-- Raises  RC003.
create or replace function recall._check_as_of(
    p_as_of timestamptz
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_as_of not between '1000-01-01T00:00:00Z' and '9999-12-31T00:00:00Z' then
        raise exception using
            errcode = 'RC003',
            message = format('p_as_of is %s', p_as_of),
            hint    = 'Pass a time between the years 1000 and 9999, or leave it out for now.';
    end if;
end;
$function$;

comment on function recall._check_as_of(timestamptz) is
    'Reject a time that a sweep cannot calculate with (RC003).';
