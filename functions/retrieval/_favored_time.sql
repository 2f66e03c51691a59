-- Return the window of time that a query names, which favors hits within it, or NULL.
-- p_keys is the filter or the options of the call. Beside a filter by time nothing is favored. For
-- most queries the cost is one look at the text.
-- Raises  RC003 asked_at or dates of another type.
create or replace function recall._favored_time(
    p_query    text,
    p_keys     jsonb,
    p_as_of    timestamptz,
    p_settings recall.settings
)
returns tstzrange
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_asked_at timestamptz;
    v_window   tstzrange;
begin
    if p_settings.date_weight = 0 or recall._names_time(left(p_query, 10000)) is not true then
        return null;
    end if;
    if p_keys <> '{}' then
        if recall._filter_value(p_keys, 'dates', 'boolean') = 'false'
           or jsonb_strip_nulls(p_keys)
              ?| '{observed_after,observed_before,valid_at,since,until}'::text[] then
            return null;
        end if;
        v_asked_at := recall._filter_value(p_keys, 'asked_at', 'timestamptz')::timestamptz;
    end if;

    select tstzrange(q.since, q.until)
      into v_window
      from recall.query_dates(p_query, coalesce(v_asked_at, p_as_of, now()),
                              p_settings.time_zone) as q;
    return v_window;
end;
$function$;

comment on function recall._favored_time(text, jsonb, timestamptz, recall.settings) is
    'The window of time that a query names and that favors its hits; NULL when there is none.';
