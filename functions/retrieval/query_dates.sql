-- Find what a query says about time: "last week", "in March", "the weekend before 9 June".
-- One row, the window from since on (NULL: without a beginning, as in "until May") and before
-- until, and the expression; no row when the query says nothing. Only English is understood, and
-- the first 10,000 characters are read. The first expression counts, an exact one before a vague
-- one.
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
set search_path from current
as $function$
declare
    v_text  constant text collate pg_c_utf8 := left(p_query, 10000);
    v_zone  constant text := coalesce(p_time_zone, 'UTC');
    v_today date;
    v_kind  record;
    v_parts text[];
    v_days  daterange;
begin
    perform recall._check_time_zone(v_zone, 'p_time_zone');
    v_today := coalesce(p_now, now()) at time zone v_zone;
    if recall._names_time(v_text) is not true
       or v_today not between '0001-01-01' and '9999-12-30' then
        return;
    end if;

    for v_kind in select e.kind, e.pattern from recall._date_expressions() as e loop
        for v_parts in select regexp_matches(v_text, v_kind.pattern, 'gi') limit 20 loop
            v_days := recall._expressed_days(v_kind.kind, v_parts, v_today);
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
    'What a query says about time ("last week", "in March", "as of 9 June"; English), as a window '
    '[since, until) of whole days in a time zone, since NULL when it has no beginning; no row when '
    'it says nothing.';
