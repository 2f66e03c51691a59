-- Record a message from or to a tool (tool call or result, MCP, JSON-RPC) and return its id.
-- A message given as bytes (p_payload_body) is stored byte for byte; credentials are masked.
-- With p_session_id, the call may be recorded later than the event.
-- Locks   the user, and the session or the call (shared).
-- Raises  RC001 unknown user, session or call, RC003.
create or replace function recall.record_protocol_event(
    p_user_id      uuid,
    p_event_type   text,
    p_direction    text  default null,
    p_method       text  default null,
    p_payload      jsonb default null,
    p_rpc_id       text  default null,
    p_tool_name    text  default null,
    p_tool_call_id text  default null,
    p_session_id   uuid  default null,
    p_call_id      uuid  default null,
    p_payload_body bytea default null,
    p_metadata     jsonb default '{}',
    p_event_id     uuid  default null
)
returns uuid
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings;
    v_classes  text[];
    v_id       uuid;
    v_at       timestamptz;
    v_payload  record;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_payload, 'p_payload', 64, 2147483647);
    perform recall._check_json(p_metadata, 'p_metadata');
    perform recall._check_metadata(p_metadata, p_user_id);
    perform recall._check_text(p_direction, 'p_direction');
    perform recall._check_text(p_method, 'p_method');
    perform recall._check_text(p_rpc_id, 'p_rpc_id');
    perform recall._check_text(p_tool_name, 'p_tool_name');
    perform recall._check_text(p_tool_call_id, 'p_tool_call_id', 100000);
    if coalesce(p_event_type, '') = '' or length(p_event_type) > 200 then
        raise exception using
            errcode = 'RC003',
            message = format('p_event_type is %L', left(p_event_type, 80)),
            hint    = 'Such as tool_call, tool_result, mcp or json_rpc.';
    end if;
    v_settings := recall._settings(p_user_id);
    v_classes  := recall._ledger_classes(v_settings);
    v_payload  := recall._ledger_body(p_payload_body, p_payload, v_settings);
    select i.o_id, i.o_at into v_id, v_at
      from recall._ledger_id(p_user_id, p_event_id, v_settings) as i;
    perform recall._lock_session_for_share(p_user_id, p_session_id);
    if p_session_id is null and p_call_id is not null then
        perform recall._lock_call_for_share(p_user_id, p_call_id);
    end if;
    perform recall._ensure_month('recall.protocol_events', v_at);

    insert into recall.protocol_events (user_id, event_id, created_at, session_id, call_id,
                                        event_type, direction, method, rpc_id, tool_name,
                                        tool_call_id, payload, payload_body, metadata)
    values (p_user_id, v_id, v_at, p_session_id, p_call_id,
            recall._redact(p_event_type, v_classes), recall._redact(p_direction, v_classes),
            recall._redact(p_method, v_classes), recall._redact(p_rpc_id, v_classes),
            recall._redact(p_tool_name, v_classes), recall._redact(p_tool_call_id, v_classes),
            v_payload.o_json, v_payload.o_body,
            recall._redact_json(p_metadata, v_classes) || case
                when v_payload.o_size is null then '{}'
                else jsonb_build_object('truncated',
                                        jsonb_build_object('payload_body', v_payload.o_size))
            end)
    on conflict do nothing;
    return v_id;
end;
$function$;

comment on function recall.record_protocol_event(uuid, text, text, text, jsonb, text, text, text,
    uuid, uuid, bytea, jsonb, uuid) is
    'Call log: record a message from or to a tool, with credentials masked, and return its id.';
