-- Find the expression of time in a query, such as "last week" or "the weekend before 9 June".
-- One row has the window from since (NULL: without a beginning, as in "until May") to until, and
-- the expression. Without an expression there is no row. Only English and the first 10,000
-- characters are read. The first exact expression counts, else the first vague one.
-- Raises  RC003 unknown time zone.
create or replace function recall.query_dates(
    p_query     text,
    p_now       timestamptz default now(),
    p_time_zone text        default 'UTC'
)
returns table (
    since      timestamptz,
    until      timestamptz,
    expression text
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_text  constant text collate pg_c_utf8 := left(p_query, 10000);
    v_zone  constant text := coalesce(p_time_zone, 'UTC');
    v_today   date;
    v_kind    text;
    v_pattern text collate pg_c_utf8;
    v_parts   text[] collate pg_c_utf8;
    v_days    daterange;
begin
    perform recall._check_time_zone(v_zone, 'p_time_zone');
    v_today := coalesce(p_now, now()) at time zone v_zone;
    if recall._names_time(v_text) is not true
       or v_today not between '0001-01-01' and '9999-12-30' then
        return;
    end if;

    for v_kind, v_pattern in select e.kind, e.pattern from recall._date_expressions() as e loop
        for v_parts in select regexp_matches(v_text, v_pattern, 'gi') limit 20 loop
            v_days := recall._expressed_days(
                v_kind, v_parts, v_today, recall._named_year(
                    (select s.sentence
                       from regexp_split_to_table(v_text, '[.?!\n]\s') as s (sentence)
                      where strpos(s.sentence, v_parts[1]) > 0
                      limit 1), v_today));
            if v_days is not null then
                return query
                select lower(v_days)::timestamp at time zone v_zone,
                       upper(v_days)::timestamp at time zone v_zone, v_parts[1];
                return;
            end if;
        end loop;
    end loop;
end;
$function$;

comment on function recall.query_dates(text, timestamptz, text) is
    'The time that a query names ("last week", "in March", "as of 9 June"; English only), as a '
    'window [since, until) of whole days in p_time_zone. since is NULL for a window without a '
    'beginning. No row when the query names no time.';
