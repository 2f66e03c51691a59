-- List the events of a streamed call in order.
-- The next page starts after p_after_index, the last event of the page before.
-- Raises  RC003.
create or replace function recall.list_stream_events(
    p_user_id     uuid,
    p_call_id     uuid,
    p_limit       integer default 1000,
    p_after_index integer default null
)
returns table (
    event_index    integer,
    event_type     text,
    text_delta     text,
    payload        jsonb,
    binary_payload bytea,
    mime_type      text,
    occurred_at    timestamptz,
    created_at     timestamptz
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
    v_at timestamptz := recall._uuid_time(p_call_id);
begin
    perform recall._check_user(p_user_id);
    perform recall._check_limit(p_limit);

    return query
    select e.event_index, e.event_type, e.text_delta, e.payload, e.binary_payload, e.mime_type,
           e.occurred_at, e.created_at
      from recall.stream_events as e
     where e.user_id    = p_user_id
       and e.call_id    = p_call_id
       and e.created_at = v_at
       and e.event_index > coalesce(p_after_index, -1)
     order by e.event_index
     limit p_limit;
end;
$function$;

comment on function recall.list_stream_events(uuid, uuid, integer, integer) is
    'Call log: the events of a streamed call, in order.';
