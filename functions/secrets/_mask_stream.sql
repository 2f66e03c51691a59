-- Mask secrets in the events of a stream, also those split over several events.
-- A stream sends a key in pieces that do not look like one. So the function joins the pieces of
-- each text (content, arguments of a call, …), in the formats of OpenAI and Anthropic. The mark
-- goes into the piece where the secret begins.
create or replace function recall._mask_stream(
    p_events  jsonb,
    p_classes text[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- Arrays, since replacing one element does not copy the others.
    v_events  jsonb[] := array(select e.event from jsonb_array_elements(p_events) as e (event));
    v_places  integer[];
    v_paths   text[];
    v_pieces  text[];
    v_masked  text[];
begin
    for v_places, v_paths, v_pieces in
        with pieces as (
            select e.place::integer as place, t.path, x.piece,
                   concat_ws('/', t.path, e.event #>> '{payload,choices,0,index}',
                             e.event #>> '{payload,choices,0,delta,tool_calls,0,index}',
                             e.event #>> '{payload,index}', e.event #>> '{payload,output_index}')
                       as channel
              from jsonb_array_elements(p_events) with ordinality as e (event, place)
             cross join unnest(array[
                       '{text_delta}', '{payload,choices,0,delta,content}',
                       '{payload,choices,0,delta,refusal}', '{payload,choices,0,text}',
                       '{payload,choices,0,delta,reasoning}',
                       '{payload,choices,0,delta,reasoning_content}',
                       '{payload,choices,0,delta,tool_calls,0,function,arguments}',
                       '{payload,delta}', '{payload,delta,text}', '{payload,delta,thinking}',
                       '{payload,delta,partial_json}']) as t (path)
             cross join lateral (select e.event #>> t.path::text[]) as x (piece)
             where jsonb_typeof(e.event #> t.path::text[]) = 'string'
               and x.piece <> ''
        )
        select array_agg(p.place order by p.place),
               array_agg(p.path order by p.place),
               array_agg(p.piece order by p.place)
          from pieces as p
         group by p.channel
    loop
        v_masked := recall._mask_pieces(v_pieces, p_classes);
        for v_number in 1 .. cardinality(v_pieces) loop
            if v_masked[v_number] <> v_pieces[v_number] then
                v_events[v_places[v_number]] := jsonb_set(
                    v_events[v_places[v_number]], v_paths[v_number]::text[],
                    to_jsonb(v_masked[v_number]));
            end if;
        end loop;
    end loop;
    return recall._mask_json(to_jsonb(v_events), p_classes);
end;
$function$;

comment on function recall._mask_stream(jsonb, text[]) is
    'Events of a stream with masked secrets, also those split over several events.';
