-- Refuse a list that does not hold stream events.
-- Raises  RC003, naming element and field.
create or replace function recall._check_stream_events(
    p_events jsonb
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_problem text;
begin
    if p_events is null or jsonb_typeof(p_events) <> 'array' then
        v_problem := 'p_events is not a list';
    elsif jsonb_path_exists(p_events, 'strict $[*] ? (@.type() <> "object")') then
        v_problem := 'p_events holds what is no object';
    else
        select format('p_events[%s].%s is %s', e.place - 1, f.key, left(f.value::text, 80))
          into v_problem
          from jsonb_array_elements(p_events) with ordinality as e (event, place)
         cross join lateral jsonb_each(e.event) as f
         where case
                   when f.value = 'null' then false
                   when f.key = 'index' then f.value::text !~ '^[0-9]{1,9}$'
                   when f.key in ('type', 'text_delta', 'mime_type') then
                       jsonb_typeof(f.value) <> 'string'
                   when f.key = 'binary_payload' then
                       jsonb_typeof(f.value) <> 'string'
                       or f.value #>> '{}' !~ '^[A-Za-z0-9+/ \n\r\t]*={0,2}[ \n\r\t]*$'
                   when f.key = 'occurred_at' then
                       not pg_input_is_valid(f.value #>> '{}', 'timestamptz')
                   when f.key = 'payload' then false
                   else true
               end
         order by e.place
         limit 1;
    end if;

    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = v_problem,
            hint    = 'An event has index (from 0), type, text_delta, payload, binary_payload '
                      '(base64), mime_type and occurred_at.';
    end if;
end;
$function$;

comment on function recall._check_stream_events(jsonb) is
    'Refuse a list that does not hold stream events (RC003).';
