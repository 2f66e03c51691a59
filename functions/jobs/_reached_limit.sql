-- Return the daily cost limit that blocks a user's jobs: its scope, the cost so far, and the limit.
-- o_whose is everybody or user; NULL when no limit is reached.
create or replace function recall._reached_limit(
    p_user_id   uuid,
    p_now       timestamptz,
    out o_whose text,
    out o_spent bigint,
    out o_limit bigint
)
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_day date := p_now at time zone 'UTC';
begin
    select s.daily_cost_limit_microcents into o_limit from recall.settings as s;
    if o_limit is not null then
        select coalesce(sum(t.cost_microcents), 0)
          into o_spent
          from recall.model_spending_totals as t
         where t.day = v_day;
        if o_spent >= o_limit then
            o_whose := 'everybody';
            return;
        end if;
    end if;

    o_limit := (recall._settings(p_user_id)).daily_user_cost_limit_microcents;
    if o_limit is not null then
        o_spent := coalesce((
            select m.cost_microcents
              from recall.model_spending as m
             where m.user_id = p_user_id
               and m.day     = v_day), 0);
        if o_spent >= o_limit then
            o_whose := 'user';
        end if;
    end if;
end;
$function$;

comment on function recall._reached_limit(uuid, timestamptz) is
    'Daily cost limit that blocks a user''s jobs, if one is reached.';
