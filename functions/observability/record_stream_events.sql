-- recall.record_stream_events(user, call, events) -> how many were new
-- What a streamed call sent, event by event: index (from 0; the place in the list when it is left
-- out), type, text_delta, payload, binary_payload (base64), mime_type, occurred_at. Best all of a
-- stream in one call: secrets that come in pieces are found within one list. An index that is
-- there already stays as it is.
-- Locks   the user (shared).
-- Raises  RC001 unknown user, RC003.
create or replace function recall.record_stream_events(
    p_user_id uuid,
    p_call_id uuid,
    p_events  jsonb
)
returns integer
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
set timezone = 'UTC'
as $function$
declare
    v_settings recall.settings;
    v_classes  text[];
    v_place    record;
    v_events   jsonb;
    v_count    integer;
begin
    perform recall._check_user(p_user_id);
    if p_call_id is null then
        raise exception using
            errcode = 'RC003',
            message = 'p_call_id is null',
            hint    = 'Pass what recall.record_model_call returned.';
    end if;
    perform recall._check_stream_events(p_events);
    v_settings := recall._settings(p_user_id);
    v_classes  := recall._ledger_classes(v_settings);
    v_events   := recall._mask_stream(p_events, v_classes);
    v_place    := recall._ledger_id(p_user_id, p_call_id, v_settings);
    perform recall._ensure_month('recall.stream_events', v_place.o_at);

    insert into recall.stream_events (user_id, call_id, event_index, created_at, occurred_at,
                                      event_type, text_delta, payload, binary_payload, mime_type)
    select p_user_id, v_place.o_id, coalesce((e.event ->> 'index')::integer, e.place::integer - 1),
           v_place.o_at, (e.event ->> 'occurred_at')::timestamptz, e.event ->> 'type',
           e.event ->> 'text_delta',
           coalesce(nullif(e.event -> 'payload', 'null'),
                    case when b.is_text then recall._json_of_bytes(b.body) end),
           b.body, e.event ->> 'mime_type'
      from jsonb_array_elements(v_events) with ordinality as e (event, place)
     cross join lateral (
            select t.is_text,
                   case when t.is_text then recall._redact_bytes(d.bytes, v_classes)
                        else d.bytes end
              from (select decode(p_events -> (e.place::integer - 1) ->> 'binary_payload',
                                  'base64')) as d (bytes)
             cross join (select coalesce(e.event ->> 'mime_type', '') ~
                                '^($|text/|application/(json|x-ndjson))') as t (is_text)
           ) as b (is_text, body)
    on conflict do nothing;
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall.record_stream_events(uuid, uuid, jsonb) is
    'Ledger: the events of a streamed call, credentials masked. Returns how many were new.';
