-- recall._check_cost(session)
-- A limit is refused where it can still save money: before the call.
-- Raises  RC005.
create or replace function recall._check_cost(
    p_session recall.sessions
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    if p_session.total_cost_microcents >= p_session.cost_limit_microcents then
        raise exception using
            errcode = 'RC005',
            message = format('session %s has cost %s micro-cents, its limit is %s',
                             p_session.session_id, p_session.total_cost_microcents,
                             p_session.cost_limit_microcents),
            hint    = 'recall.update_session raises cost_limit_microcents.';
    end if;
end;
$function$;

comment on function recall._check_cost(recall.sessions) is
    'Refuse to prepare another call for a session past its cost limit (RC005).';
