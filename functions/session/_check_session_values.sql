-- Check sampling parameters and budgets of a session.
-- The CHECKs of the table are the same; this error adds the value and a hint.
-- Raises  RC003.
create or replace function recall._check_session_values(
    p_window      integer,
    p_response    integer,
    p_temperature real,
    p_top_p       real,
    p_cost_limit  bigint,
    p_expires_in  interval
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_problem text := case
        when p_window <= 0 then format('context_window_size is %s', p_window)
        when p_response < 0 then format('max_response_tokens is %s', p_response)
        when p_response >= p_window then
            format('max_response_tokens %s leaves nothing of the window %s', p_response, p_window)
        when p_temperature < 0 or p_temperature > 2 or p_temperature = 'NaN' then
            format('temperature is %s', p_temperature)
        when p_top_p <= 0 or p_top_p > 1 or p_top_p = 'NaN' then format('top_p is %s', p_top_p)
        when p_cost_limit < 0 then format('cost_limit_microcents is %s', p_cost_limit)
        when p_expires_in <= interval '0' or p_expires_in > interval '1000 years'
            then format('expires_in is %s', p_expires_in)
    end;
begin
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = v_problem,
            hint    = 'Tokens: positive, response below the window; temperature 0 to 2; '
                      'top_p above 0 to 1; cost limit 0 or more; expires_in positive, at most '
                      '1000 years.';
    end if;
end;
$function$;

comment on function recall._check_session_values(integer, integer, real, real, bigint, interval) is
    'Reject sampling parameters and budgets out of range (RC003).';
