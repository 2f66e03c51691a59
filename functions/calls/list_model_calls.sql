-- List model calls, newest first.
-- The next page starts before p_before_id, the last call of the page before; p_call_id gives one
-- call. Without p_include_bodies, requests and responses are left out.
-- Raises  RC003.
create or replace function recall.list_model_calls(
    p_user_id        uuid,
    p_session_id     uuid    default null,
    p_limit          integer default 50,
    p_before_id      uuid    default null,
    p_call_id        uuid    default null,
    p_include_bodies boolean default true
)
returns table (
    call_id           uuid,
    session_id        uuid,
    job_id            uuid,
    created_at        timestamptz,
    provider          text,
    endpoint          text,
    model             text,
    request           jsonb,
    response          jsonb,
    usage             jsonb,
    error             text,
    request_id        text,
    status_code       integer,
    started_at        timestamptz,
    completed_at      timestamptz,
    latency_ms        integer,
    prompt_tokens     integer,
    completion_tokens integer,
    cached_tokens     integer,
    reasoning_tokens  integer,
    cost_microcents   bigint,
    is_stream         boolean,
    request_body      bytea,
    response_body     bytea,
    request_headers   jsonb,
    response_headers  jsonb,
    metadata          jsonb
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
    v_from  timestamptz := coalesce(recall._uuid_time(p_call_id), '-infinity');
    v_until timestamptz := coalesce(recall._uuid_time(p_call_id),
                                    recall._uuid_time(p_before_id), 'infinity');
begin
    perform recall._check_user(p_user_id);
    perform recall._check_limit(p_limit);

    return query
    select c.call_id, c.session_id, c.job_id, c.created_at, c.provider, c.endpoint, c.model,
           case when p_include_bodies then c.request end,
           case when p_include_bodies then c.response end,
           c.usage, c.error, c.request_id, c.status_code, c.started_at, c.completed_at,
           c.latency_ms, c.prompt_tokens, c.completion_tokens, c.cached_tokens, c.reasoning_tokens,
           c.cost_microcents, c.is_stream,
           case when p_include_bodies then c.request_body end,
           case when p_include_bodies then c.response_body end,
           c.request_headers, c.response_headers, c.metadata
      from recall.model_calls as c
     where c.user_id = p_user_id
       and c.created_at between v_from and v_until
       and (p_call_id is null or c.call_id = p_call_id)
       and (p_session_id is null or c.session_id = p_session_id)
       and (p_before_id is null or c.call_id < p_before_id)
     order by c.call_id desc
     limit p_limit;
end;
$function$;

comment on function recall.list_model_calls(uuid, uuid, integer, uuid, uuid, boolean) is
    'Call log: model calls, newest first, of one session or of all.';
