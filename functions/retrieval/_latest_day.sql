-- Return a day of a month in a year, or without a year its latest occurrence.
create or replace function recall._latest_day(
    p_month text,
    p_day   integer,
    p_year  text,
    p_today date
)
returns date
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_year  constant integer := coalesce(p_year::integer, date_part('year', p_today)::integer);
    v_month constant integer := array_position(
        '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'::text[], left(p_month, 3));
    v_day   constant date    := recall._calendar_day(v_year, v_month, p_day);
begin
    if p_year is null and v_day > p_today then
        return recall._calendar_day(v_year - 1, v_month, p_day);
    end if;
    return v_day;
end;
$function$;

comment on function recall._latest_day(text, integer, text, date) is
    'A day of a month, in a year or at its latest occurrence; NULL when it does not exist.';
