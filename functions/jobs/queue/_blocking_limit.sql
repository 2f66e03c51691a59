-- Return the daily cost limit that blocks a user's jobs: whose limit it is, an error, a due time.
-- o_whose is everybody or user; NULL when no limit is reached. Blocked jobs are due at the next
-- midnight (UTC), but at most ten minutes from p_now: a raised limit takes effect soon.
create or replace function recall._blocking_limit(
    p_user_id   uuid,
    p_now       timestamptz,
    out o_whose  text,
    out o_error  text,
    out o_due_at timestamptz
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_day      constant date            := p_now at time zone 'UTC';
    v_settings constant recall.settings := recall._settings(p_user_id);
    v_limit    bigint := v_settings.daily_cost_limit_microcents;
    v_spent    bigint;
begin
    if v_limit is not null then
        select coalesce(sum(t.cost_microcents), 0)
          into v_spent
          from recall.model_spending_totals as t
         where t.day = v_day;
        if v_spent >= v_limit then
            o_whose := 'everybody';
        end if;
    end if;

    if o_whose is null and v_settings.daily_user_cost_limit_microcents is not null then
        v_limit := v_settings.daily_user_cost_limit_microcents;
        v_spent := coalesce((
            select m.cost_microcents
              from recall.model_spending as m
             where m.user_id = p_user_id
               and m.day     = v_day), 0);
        if v_spent >= v_limit then
            o_whose := 'user';
        end if;
    end if;

    if o_whose is not null then
        o_error  := format(
            'RC005 the jobs of %s have spent %s micro-cents on models on %s (UTC), the daily limit '
            'is %s', case o_whose when 'user' then 'this user' else 'all users' end, v_spent, v_day,
            v_limit);
        o_due_at := least(date_add(date_trunc('day', p_now, 'UTC'), interval '1 day', 'UTC'),
                          p_now + interval '10 minutes');
    end if;
end;
$function$;

comment on function recall._blocking_limit(uuid, timestamptz) is
    'Daily cost limit that blocks a user''s jobs, if one is reached.';
