-- Reject a limit that is NULL or negative.
-- Raises  RC003 for NULL or a negative number.
create or replace function recall._check_limit(
    p_limit integer,
    p_what  text default 'p_limit'
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_limit is null or p_limit < 0 then
        raise exception using
            errcode = 'RC003',
            message = format('%s is %s', p_what, coalesce(p_limit::text, 'null')),
            hint    = 'Pass zero or more rows.';
    end if;
end;
$function$;

comment on function recall._check_limit(integer, text) is
    'Reject a missing or negative limit (RC003).';
