-- Return the only year that a query names, for its months and days without one; NULL otherwise.
-- So "In 2024, what did I do in March?" means March 2024. A year follows "in", "of", a month or a
-- day; "room 2024" and "20:24" are none.
create or replace function recall._named_year(
    p_text  text,
    p_today date
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    return (
        select case when count(distinct y.found[1]) = 1 then min(y.found[1]) end
          from regexp_matches(
                   regexp_replace(p_text collate pg_c_utf8, '\ylast year\y',
                                  'in ' || date_part('year', p_today) - 1, 'gi'),
                   '\y(?:in|of|during|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?|'
                   '\d{1,2}(?:st|nd|rd|th)?),?\s+((?:19|20)\d\d)\y(?!\s*:)', 'gi') as y (found));
end;
$function$;

comment on function recall._named_year(text, date) is
    'The only year that a query names, as in "last year in March"; NULL for none or several.';
