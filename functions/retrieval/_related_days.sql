-- Return the days of an expression with the words before it, as in "the week before 9 June".
-- After "before" and "until" the range has no beginning. Words that only introduce an expression,
-- such as "in" and "on", change nothing.
create or replace function recall._related_days(
    p_words text,
    p_from  date,
    p_until date,
    p_today date
)
returns daterange
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_parts    constant text[]  := regexp_match(
        regexp_replace(p_words, '\s+', ' ', 'g'),
        '^(?:the )?(?:(?:(a couple of|a few|[a-z]+|\d+) )?(day|week|month|year|weekend|monday|'
        'tuesday|wednesday|thursday|friday|saturday|sunday)s? )?(since|after|before|until|till|'
        'up to|as of|by|early|mid|late|(?:beginning|start|middle|end) of|of|in) (?:the )?$');
    v_unit     constant text    := v_parts[2];
    v_relation constant text    := v_parts[3];
    v_third    constant integer := (p_until - p_from) / 3;
    v_nth      constant integer := array_position('{first,second,third,fourth}'::text[],
                                                  v_parts[1]);
    v_is_last  constant boolean := coalesce(v_parts[1] = 'last', false);
    v_weekday  constant integer := array_position(
        '{monday,tuesday,wednesday,thursday,friday,saturday,sunday}'::text[],
        case when v_unit = 'weekend' then 'saturday' else v_unit end);
    v_length   constant integer := case when v_unit = 'weekend' then 2 else 1 end;
    v_step     constant interval := (case when v_weekday is null then '1 ' || v_unit
                                          else '1 week' end)::interval;
    v_count    integer;
    v_from     date;
begin
    if v_unit is null then
        return case
            when v_relation = 'since'  then daterange(p_from, greatest(p_from, p_today + 1))
            when v_relation = 'after'  then daterange(p_until, greatest(p_until, p_today + 1))
            when v_relation = 'before' then daterange(null, p_from)
            when v_relation in ('until', 'till', 'up to', 'as of', 'by')
                then daterange(null, p_until)
            when v_relation in ('early', 'beginning of', 'start of')
                then daterange(p_from, p_from + v_third)
            when v_relation in ('mid', 'middle of')
                then daterange(p_from + v_third, p_until - v_third)
            when v_relation in ('late', 'end of')
                then daterange(p_until - v_third, p_until)
            else daterange(p_from, p_until)
        end;
    end if;

    -- "The week of 3 April" is a calendar week; "the first week of April" begins on 1 April.
    if v_relation in ('of', 'in') and p_until = p_from + 1 and v_unit <> 'day' then
        v_from := date_trunc(case when v_weekday is null then v_unit else 'week' end,
                             p_from::timestamp);
        return case when v_weekday is null then daterange(v_from, (v_from + v_step)::date)
                    when v_unit = 'weekend' then daterange(v_from + 5, v_from + 7)
                    else daterange(p_from, p_until) end;
    elsif v_relation in ('of', 'in') and v_nth is null and not v_is_last then
        return daterange(p_from, p_until);
    end if;

    -- Count from the first such weekday on or after the start, or from the start itself.
    v_from := case when v_relation = 'after' or v_relation <> 'before' and v_is_last then p_until
                   else p_from end;
    if v_weekday is not null then
        v_from := v_from + (v_weekday - date_part('isodow', v_from)::integer + 7) % 7;
    end if;
    v_count := case when v_is_last then 1
                    else coalesce(v_nth,
                                  recall._expressed_number(coalesce(v_parts[1], 'one'))) end;
    if v_relation = 'before' or v_relation <> 'after' and v_is_last then
        v_from := v_from - v_count * v_step;
    elsif v_relation <> 'after' or v_weekday is not null then
        v_from := v_from + (v_count - 1) * v_step;
    end if;
    return case
        when v_weekday is not null then daterange(v_from, v_from + v_length)
        when v_relation = 'before' then daterange(v_from, p_from)
        when v_relation = 'after'  then daterange(v_from, (v_from + v_count * v_step)::date)
        else daterange(v_from, (v_from + v_step)::date)
    end;
end;
$function$;

comment on function recall._related_days(text, date, date, date) is
    'Days that an expression of time means together with the words before it ("the week before 9 '
    'June").';
