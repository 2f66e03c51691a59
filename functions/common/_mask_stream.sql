-- recall._mask_stream(events, classes) -> the events, secrets masked also across their borders
-- A stream sends a key in pieces, none of which looks like one. So the pieces of each text that it
-- brings (content, arguments of a call, …) are looked at as the whole that they make; the mark
-- stands in the piece where the secret begins. In the forms of OpenAI's and Anthropic's APIs.
create or replace function recall._mask_stream(
    p_events  jsonb,
    p_classes text[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_events jsonb := p_events;
    v_change record;
begin
    for v_change in
        with pieces as (
            select e.place::integer - 1 as place, t.path, x.piece,
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
        ), placed as (
            select p.place, p.path, p.piece, p.channel,
                   sum(length(p.piece)) over (partition by p.channel order by p.place)
                       - length(p.piece) as before
              from pieces as p
        ), channels as (
            select p.channel, string_agg(p.piece, '' order by p.place) as body
              from placed as p
             group by p.channel
        ), spans as (
            select c.channel, s.mark, s.from_char, s.to_char
              from channels as c
             cross join lateral recall._secret_spans(c.body, p_classes) as s
        )
        select p.place, p.path, string_agg(
                   case
                       when s.channel is null then c.letter
                       when s.from_char = p.before + c.at then s.mark
                       else ''
                   end, '' order by c.at) as piece
          from placed as p
         cross join lateral regexp_split_to_table(p.piece, '') with ordinality as c (letter, at)
          left join spans as s
            on s.channel = p.channel and p.before + c.at between s.from_char and s.to_char
         where exists (
                   select from spans as o
                    where o.channel = p.channel
                      and o.from_char <= p.before + length(p.piece)
                      and o.to_char > p.before)
         group by p.place, p.path
    loop
        v_events := jsonb_set(v_events, array[v_change.place::text] || v_change.path::text[],
                              to_jsonb(v_change.piece));
    end loop;
    return recall._mask_json(v_events, p_classes);
end;
$function$;

comment on function recall._mask_stream(jsonb, text[]) is
    'Events of a stream with marks in the place of secrets, also of those that come in pieces.';
