-- Mask secrets in server-sent events, also those split over several events.
-- The text is the body of a streamed response: lines "data: {…}", each with a piece of a text. Only
-- lines with a piece of a secret are rewritten.
create or replace function recall._mask_event_stream(
    p_text    text,
    p_classes text[]
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_lines  text[] := string_to_array(p_text, E'\n');
    v_places integer[];
    v_events jsonb;
    v_masked jsonb;
begin
    select array_agg(e.place order by e.place),
           jsonb_agg(jsonb_build_object('payload', e.payload) order by e.place)
      into v_places, v_events
      from (
            select l.place::integer as place,
                   recall._json_of_bytes(convert_to(substr(l.line, 6), 'UTF8')) as payload
              from unnest(v_lines) with ordinality as l (line, place)
             where l.line like 'data:%') as e
     where e.payload is not null;
    v_masked := recall._mask_stream(coalesce(v_events, '[]'), p_classes);
    if v_masked = v_events then
        return p_text;
    end if;

    for v_place in 1 .. coalesce(cardinality(v_places), 0) loop
        if v_masked -> (v_place - 1) <> v_events -> (v_place - 1) then
            v_lines[v_places[v_place]] := 'data: ' || (v_masked -> (v_place - 1) ->> 'payload')
                || case when right(v_lines[v_places[v_place]], 1) = E'\r' then E'\r' else '' end;
        end if;
    end loop;
    return array_to_string(v_lines, E'\n');
end;
$function$;

comment on function recall._mask_event_stream(text, text[]) is
    'Server-sent events with masked secrets, also those split over several events.';
