-- Reject a lease that is not an interval above 0 and up to 1000 years.
-- Raises  RC003.
create or replace function recall._check_lease(
    p_lease interval
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_lease is null or p_lease <= interval '0' or p_lease > interval '1000 years' then
        raise exception using
            errcode = 'RC003',
            message = format('p_lease is %s', coalesce(p_lease::text, 'null')),
            hint    = 'Use an interval above 0 and up to 1000 years, such as 5 minutes.';
    end if;
end;
$function$;

comment on function recall._check_lease(interval) is
    'Reject a lease that is not an interval above 0 and up to 1000 years (RC003).';
