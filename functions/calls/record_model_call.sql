-- Record one model call in the call log and return its id.
-- Bodies given as bytes are stored byte for byte, with their JSON beside them for queries. A body
-- above settings.ledger_max_body is cut, and metadata.truncated holds its full length.
-- A repeated p_call_id changes nothing. Credentials are always masked.
-- Locks   the user and the session (shared).
-- Raises  RC001 unknown user or session, RC003.
create or replace function recall.record_model_call(
    p_user_id          uuid,
    p_model            text,
    p_provider         text        default null,
    p_endpoint         text        default null,
    p_request          jsonb       default null,
    p_response         jsonb       default null,
    p_usage            jsonb       default null,
    p_error            text        default null,
    p_request_id       text        default null,
    p_status_code      integer     default null,
    p_started_at       timestamptz default null,
    p_completed_at     timestamptz default null,
    p_is_stream        boolean     default false,
    p_request_body     bytea       default null,
    p_response_body    bytea       default null,
    p_request_headers  jsonb       default '{}',
    p_response_headers jsonb       default '{}',
    p_session_id       uuid        default null,
    p_job_id           uuid        default null,
    p_cost_microcents  bigint      default null,
    p_metadata         jsonb       default '{}',
    p_call_id          uuid        default null
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
    v_request  record;
    v_response record;
    v_id       uuid;
    v_at       timestamptz;
    v_usage    jsonb;
    v_tokens   integer[];
    v_started  timestamptz;
    v_cut      jsonb;
    v_session  uuid := p_session_id;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_request, 'p_request', 64, 2147483647);
    perform recall._check_json(p_response, 'p_response', 64, 2147483647);
    perform recall._check_json(p_usage, 'p_usage');
    perform recall._check_json(p_request_headers, 'p_request_headers');
    perform recall._check_json(p_response_headers, 'p_response_headers');
    perform recall._check_json(p_metadata, 'p_metadata');
    perform recall._check_text(p_provider, 'p_provider');
    perform recall._check_text(p_endpoint, 'p_endpoint', 10000);
    perform recall._check_text(p_error, 'p_error', 100000);
    perform recall._check_text(p_request_id, 'p_request_id');
    perform recall._check_call(p_model, p_started_at, p_completed_at, p_status_code,
                               p_cost_microcents, p_request_headers, p_response_headers);
    perform recall._check_metadata(p_metadata, p_user_id);
    v_settings := recall._settings(p_user_id);
    v_classes  := recall._ledger_classes(v_settings);
    v_request  := recall._ledger_body(p_request_body, p_request, v_settings);
    v_response := recall._ledger_body(p_response_body, p_response, v_settings);
    v_usage    := recall._redact_json(coalesce(p_usage, v_response.o_json -> 'usage'), v_classes);
    v_tokens   := array[
        recall._usage_count(v_usage, '{prompt_tokens,input_tokens}'),
        recall._usage_count(v_usage, '{completion_tokens,output_tokens}'),
        recall._usage_count(v_usage, '{prompt_tokens_details.cached_tokens,'
                                     'input_tokens_details.cached_tokens,'
                                     'cache_read_input_tokens,cached_tokens}'),
        recall._usage_count(v_usage, '{completion_tokens_details.reasoning_tokens,'
                                     'output_tokens_details.reasoning_tokens,reasoning_tokens}')];
    -- A call of a job belongs to the session of the job.
    if v_session is null and p_job_id is not null then
        select j.session_id into v_session
          from recall.jobs as j where j.user_id = p_user_id and j.job_id = p_job_id;
    end if;
    select i.o_id, i.o_at into v_id, v_at
      from recall._ledger_id(p_user_id, p_call_id, v_settings) as i;
    perform recall._lock_session_for_share(p_user_id, v_session);
    v_started  := coalesce(p_started_at, least(v_at, p_completed_at));
    v_cut      := jsonb_strip_nulls(jsonb_build_object(
        'request_body', v_request.o_size, 'response_body', v_response.o_size));
    v_cut      := case when v_cut = '{}' then v_cut
                       else jsonb_build_object('truncated', v_cut) end;
    perform recall._ensure_month('recall.model_calls', v_at);

    insert into recall.model_calls (
        user_id, call_id, created_at, session_id, job_id, provider, endpoint, model, request,
        response, usage, error, request_id, status_code, started_at, completed_at, latency_ms,
        prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost_microcents,
        is_stream, request_body, response_body, request_headers, response_headers, metadata)
    values (
        p_user_id, v_id, v_at, v_session, p_job_id,
        recall._redact(p_provider, v_classes), recall._redact(p_endpoint, v_classes),
        recall._redact(p_model, v_classes), v_request.o_json, v_response.o_json, v_usage,
        recall._redact(p_error, v_classes), recall._redact(p_request_id, v_classes), p_status_code,
        v_started, p_completed_at,
        case when p_completed_at - v_started < interval '20 days'
             then extract(epoch from p_completed_at - v_started) * 1000 end,
        v_tokens[1], v_tokens[2], v_tokens[3], v_tokens[4],
        coalesce(p_cost_microcents,
                 recall._call_cost(p_model, v_tokens[1], v_tokens[2], v_tokens[3])),
        coalesce(p_is_stream, false), v_request.o_body, v_response.o_body,
        recall._harmless_headers(p_request_headers, v_settings),
        recall._harmless_headers(p_response_headers, v_settings),
        recall._redact_json(p_metadata, v_classes) || v_cut)
    on conflict do nothing;
    return v_id;
end;
$function$;

comment on function recall.record_model_call(uuid, text, text, text, jsonb, jsonb, jsonb, text,
    text, integer, timestamptz, timestamptz, boolean, bytea, bytea, jsonb, jsonb, uuid, uuid,
    bigint, jsonb, uuid) is
    'Call log: record one model call and return its id. Bodies are stored byte for byte, except '
    'that credentials are masked and bodies above settings.ledger_max_body bytes are cut (their '
    'length is in metadata.truncated). Only headers known to be harmless are stored. NULL '
    'p_cost_microcents: the cost by the prices in models.';
