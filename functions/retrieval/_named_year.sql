-- Return the only year that dates the months of a sentence which have none; NULL otherwise.
-- It is "last year", begins the sentence ("In 2024, what did I do in March?"), or follows another
-- month ("in March and April 2024"). The years of "I was born in 1990" and "room 2024" are none,
-- nor is a later year than today's.
create or replace function recall._named_year(
    p_sentence text,
    p_today    date
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_today constant integer := date_part('year', p_today);
begin
    return (
        select case when count(distinct y.year) = 1 then min(y.year) end
          from regexp_matches(
                   p_sentence collate pg_c_utf8,
                   '(\ylast year\y)|(?:^\s*(?:in|during)|\y(?:jan|feb|mar|apr|may|jun|jul|aug|sep|'
                   'oct|nov|dec)[a-z]*\.?(?:\s+\d{1,2}(?:st|nd|rd|th)?(?:\s*(?:-|to|and)\s*\d{1,2}'
                   '(?:st|nd|rd|th)?)?)?),?\s+((?:19|20)\d\d)\y(?!\s*:)', 'gi') as f (parts)
         cross join lateral (
                select coalesce(f.parts[2], (v_today - 1)::text)
               ) as y (year)
         where y.year::integer <= v_today);
end;
$function$;

comment on function recall._named_year(text, date) is
    'The only year that dates the months of a sentence, as in "last year in March"; NULL for none '
    'or several.';
