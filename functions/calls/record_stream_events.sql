-- Record the events of a streamed call and return how many were new.
-- Pass all events of a stream in one call: a secret split over events is found within one list
-- only. A missing index is the position in the list, from 0. A stored index stays unchanged.
-- Locks   the user and the call (shared).
-- Raises  RC001 unknown user or call, RC003.
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
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
as $function$
declare
    v_settings recall.settings;
    v_classes  text[];
    v_id       uuid;
    v_at       timestamptz;
    v_given    jsonb;
    v_events   jsonb;
    v_count    integer;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_events, 'p_events');
    if p_call_id is null then
        raise exception using
            errcode = 'RC003',
            message = 'p_call_id is null',
            hint    = 'Pass what recall.record_model_call returned.';
    end if;
    perform recall._check_stream_events(p_events);
    v_settings := recall._settings(p_user_id);
    v_classes  := recall._ledger_classes(v_settings);
    v_given    := recall._events_with_payload(p_events);
    v_events   := recall._mask_stream(v_given, v_classes);
    select i.o_id, i.o_at into v_id, v_at
      from recall._ledger_id(p_user_id, p_call_id, v_settings) as i;
    perform recall._lock_call_for_share(p_user_id, v_id);
    perform recall._ensure_month('recall.stream_events', v_at);

    insert into recall.stream_events (user_id, call_id, event_index, created_at, occurred_at,
                                      event_type, text_delta, payload, binary_payload, mime_type)
    select p_user_id, v_id, coalesce((e.event ->> 'index')::integer, e.place::integer - 1),
           v_at, (e.event ->> 'occurred_at')::timestamptz, e.event ->> 'type',
           e.event ->> 'text_delta',
           nullif(e.event -> 'payload', 'null'),
           b.body, e.event ->> 'mime_type'
      from jsonb_array_elements(v_events) with ordinality as e (event, place)
      left join lateral (
            select case
                       when not recall._is_text_event(e.event) then d.bytes
                       when e.event -> 'payload' is distinct from g.event -> 'payload'
                           then convert_to(e.event ->> 'payload', 'UTF8')
                       else recall._redact_bytes(d.bytes, v_classes)
                   end
              from (select v_given -> (e.place::integer - 1)) as g (event)
             cross join decode(g.event ->> 'binary_payload', 'base64') as d (bytes)
             where d.bytes is not null) as b (body) on true
    on conflict do nothing;
    get diagnostics v_count = row_count;
    return v_count;
end;
$function$;

comment on function recall.record_stream_events(uuid, uuid, jsonb) is
    'Call log: record the events of a streamed call, with credentials masked, and return how '
    'many were new. An event has index (from 0), type, text_delta, payload, binary_payload '
    '(base64), mime_type and occurred_at. Pass all events of a stream in one call: a secret '
    'split over calls is not found.';
