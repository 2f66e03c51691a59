-- Return a date of the calendar, or NULL for one that does not exist.
create or replace function recall._calendar_day(
    p_year  integer,
    p_month integer,
    p_day   integer
)
returns date
language sql
immutable
parallel safe
return case
           when p_year between 1 and 9999 and p_month between 1 and 12
                and p_day between 1 and date_part('day', make_date(p_year, p_month, 1)
                                                         + interval '1 month - 1 day')
               then make_date(p_year, p_month, p_day)
       end;

comment on function recall._calendar_day(integer, integer, integer) is
    'A date of the calendar; NULL for one that does not exist.';
