-- Raise an error before a call when the session or its user has reached a cost limit.
-- It sums the user's sessions only where the user has a limit.
-- Raises  RC005.
create or replace function recall._check_cost(
    p_session  recall.sessions,
    p_settings recall.settings
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_cost bigint;
begin
    if p_session.total_cost_microcents >= p_session.cost_limit_microcents then
        raise exception using
            errcode = 'RC005',
            message = format('session %s has cost %s micro-cents, its limit is %s',
                             p_session.session_id, p_session.total_cost_microcents,
                             p_session.cost_limit_microcents),
            hint    = 'recall.update_session raises cost_limit_microcents.';
    end if;

    if p_settings.user_cost_limit_microcents is null then
        return;
    end if;

    select sum(s.total_cost_microcents)
      into v_cost
      from recall.sessions as s
     where s.user_id = p_session.user_id;
    if v_cost >= p_settings.user_cost_limit_microcents then
        raise exception using
            errcode = 'RC005',
            message = format('the sessions of user %s have cost %s micro-cents, the limit is %s',
                             p_session.user_id, v_cost, p_settings.user_cost_limit_microcents),
            hint    = 'recall.configure_user raises user_cost_limit_microcents.';
    end if;
end;
$function$;

comment on function recall._check_cost(recall.sessions, recall.settings) is
    'Raise RC005 when a session or its user has reached the cost limit.';
