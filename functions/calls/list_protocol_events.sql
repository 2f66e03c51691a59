-- List traffic with tools, newest first.
-- The next page starts before p_before_id, the last event of the page before.
-- Raises  RC003.
create or replace function recall.list_protocol_events(
    p_user_id    uuid,
    p_session_id uuid    default null,
    p_call_id    uuid    default null,
    p_limit      integer default 100,
    p_before_id  uuid    default null
)
returns table (
    event_id     uuid,
    session_id   uuid,
    call_id      uuid,
    created_at   timestamptz,
    event_type   text,
    direction    text,
    method       text,
    rpc_id       text,
    tool_name    text,
    tool_call_id text,
    payload      jsonb,
    payload_body bytea,
    metadata     jsonb
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set max_parallel_workers_per_gather = 0
as $function$
declare
    v_until timestamptz := coalesce(recall._uuid_time(p_before_id), 'infinity');
begin
    perform recall._check_user(p_user_id);
    perform recall._check_limit(p_limit);

    return query
    select e.event_id, e.session_id, e.call_id, e.created_at, e.event_type, e.direction, e.method,
           e.rpc_id, e.tool_name, e.tool_call_id, e.payload, e.payload_body, e.metadata
      from recall.protocol_events as e
     where e.user_id = p_user_id
       and e.created_at <= v_until
       and (p_session_id is null or e.session_id = p_session_id)
       and (p_call_id is null or e.call_id = p_call_id)
       and (p_before_id is null or e.event_id < p_before_id)
     order by e.event_id desc
     limit p_limit;
end;
$function$;

comment on function recall.list_protocol_events(uuid, uuid, uuid, integer, uuid) is
    'Call log: traffic with tools, newest first, of one session, of one call or of all.';
