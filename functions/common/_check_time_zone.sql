-- Check that this server knows the name of a time zone.
-- The test appends the name to a time without a zone; words such as BC or Monday are valid after
-- any time, so they are excluded. No exception is caught, so that callers stay parallel safe.
-- Raises  RC003.
create or replace function recall._check_time_zone(
    p_time_zone text,
    p_what      text
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_time_zone = 'UTC' or p_time_zone is null then
        return;
    end if;

    if p_time_zone ~ '\s'
       or not pg_input_is_valid('2000-01-01 13:00:00 ' || p_time_zone, 'timestamptz')
       or pg_input_is_valid('2000-01-01 13:00:00 UTC ' || p_time_zone, 'timestamptz') then
        raise exception using
            errcode = 'RC003',
            message = format('%s is %s', p_what, left(p_time_zone, 80)),
            hint    = 'Pass a name such as UTC or Europe/Berlin: select name from '
                      'pg_timezone_names.';
    end if;
end;
$function$;

comment on function recall._check_time_zone(text, text) is 'Reject an unknown time zone (RC003).';
