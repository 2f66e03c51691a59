-- Refuse fields that cannot belong to a model call.
-- Raises  RC003.
create or replace function recall._check_call(
    p_model            text,
    p_started_at       timestamptz,
    p_completed_at     timestamptz,
    p_status_code      integer,
    p_cost_microcents  bigint,
    p_request_headers  jsonb,
    p_response_headers jsonb
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_problem text := case
        when coalesce(p_model, '') = '' or length(p_model) > 200 then
            format('p_model is %L', left(p_model, 80))
        when not isfinite(p_started_at) or not isfinite(p_completed_at) then
            'p_started_at or p_completed_at is infinite'
        when p_completed_at < p_started_at then
            format('p_completed_at (%s) lies before p_started_at (%s)', p_completed_at,
                   p_started_at)
        when p_completed_at - p_started_at > interval '20 days' then
            'p_started_at and p_completed_at lie more than 20 days apart'
        when p_status_code not between 0 and 999 then format('p_status_code is %s', p_status_code)
        when p_cost_microcents < 0 then format('p_cost_microcents is %s', p_cost_microcents)
        when coalesce(jsonb_typeof(p_request_headers), '') <> 'object' then
            'p_request_headers is no JSON object'
        when coalesce(jsonb_typeof(p_response_headers), '') <> 'object' then
            'p_response_headers is no JSON object'
    end;
begin
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = v_problem,
            hint    = 'A model has a name, headers are an object of names and values, a call ends '
                      'after it began.';
    end if;
end;
$function$;

comment on function recall._check_call(text, timestamptz, timestamptz, integer, bigint, jsonb,
    jsonb) is 'Refuse fields that cannot belong to a model call (RC003).';
