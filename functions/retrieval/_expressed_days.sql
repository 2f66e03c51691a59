-- Return the days that an expression of time means, or NULL when there are none.
-- A month or weekday without a year or week is of p_year, else the latest one that has begun. A day
-- that does not exist, such as 31 June, gives NULL.
create or replace function recall._expressed_days(
    p_kind  text,
    p_parts text[],
    p_today date,
    p_year  text
)
returns daterange
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_parts constant text[] := array(
        select lower(p.part collate pg_c_utf8) from unnest(p_parts) with ordinality as p (part, n)
         order by p.n);
    v_unit  text := 'day';
    v_day   date;
    v_until date;
    v_days  daterange;
begin
    case p_kind
        when 'date' then
            v_day := recall._calendar_day(v_parts[3]::integer, v_parts[4]::integer,
                                          v_parts[5]::integer);
        when 'month_day' then
            v_day := recall._latest_day(v_parts[3], v_parts[4]::integer,
                                         coalesce(v_parts[5], p_year), p_today);
        when 'day_month' then
            v_day := recall._latest_day(v_parts[4], v_parts[3]::integer,
                                         coalesce(v_parts[5], p_year), p_today);
        when 'before_yesterday' then
            v_day := p_today - 2;
        when 'yesterday' then
            v_day := p_today - 1;
        when 'today' then
            v_day := p_today;
        when 'ago', 'past' then
            v_unit := v_parts[4];
            v_day  := p_today - recall._expressed_number(v_parts[3]) * ('1 ' || v_unit)::interval;
        when 'weekend' then
            v_day   := date_trunc('week', p_today::timestamp)::date - 2;
            v_until := v_day + 2;
        when 'last' then
            v_unit := v_parts[4];
            v_day  := p_today - (v_parts[3] <> 'this')::integer * ('1 ' || v_unit)::interval;
        when 'weekday' then
            v_day := p_today - 1 - (7 + date_part('isodow', p_today)::integer - 1
                                    - array_position('{monday,tuesday,wednesday,thursday,friday,'
                                                     'saturday,sunday}'::text[], v_parts[3])) % 7;
        when 'month' then
            v_unit := 'month';
            v_day  := recall._latest_day(v_parts[3], 1, coalesce(v_parts[4], p_year), p_today);
        else
            v_unit := 'year';
            v_day  := recall._calendar_day(v_parts[3]::integer, 1, 1);
    end case;

    if p_kind = 'past' then
        v_until := p_today + 1;
    elsif v_until is null then
        v_day   := date_trunc(v_unit, v_day::timestamp)::date;
        v_until := v_day + ('1 ' || v_unit)::interval;
    end if;
    if v_day is null then
        return null;
    end if;
    v_days := recall._related_days(coalesce(v_parts[2], ''), v_day, v_until, p_today);
    -- Years of four digits, which the date type of every driver can hold.
    return case when not isempty(v_days) and coalesce(lower(v_days) >= '0001-01-01', true)
                     and upper(v_days) <= '9999-12-31' then v_days end;
end;
$function$;

comment on function recall._expressed_days(text, text[], date, text) is
    'Days that an expression of time means on p_today; NULL when there are none.';
