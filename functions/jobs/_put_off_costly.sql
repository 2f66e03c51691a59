-- recall._put_off_costly(job, now) -> whose daily limit is reached: everybody, user, or NULL
-- A job that needs a language model waits, without an attempt being counted, until the day (UTC)
-- is over; ten minutes at most, so that a limit that was raised takes effect soon.
create or replace function recall._put_off_costly(
    p_job recall.jobs,
    p_now timestamptz
)
returns text
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_day      date        := p_now at time zone 'UTC';
    v_midnight timestamptz := date_add(date_trunc('day', p_now, 'UTC'), interval '1 day', 'UTC');
    v_whose    text        := 'everybody';
    v_settings recall.settings;
    v_limit    bigint;
    v_spent    bigint;
begin
    if not recall._needs_model(p_job.kind, p_job.payload) then
        return null;
    end if;

    select s.daily_cost_limit_microcents into v_limit from recall.settings as s;
    if v_limit is not null then
        select coalesce(sum(t.cost_microcents), 0)
          into v_spent
          from recall.model_spending_totals as t
         where t.day = v_day;
    end if;

    if v_limit is null or v_spent < v_limit then
        v_whose    := 'user';
        v_settings := recall._settings(p_job.user_id);
        v_limit    := v_settings.daily_user_cost_limit_microcents;
        if v_limit is null then
            return null;
        end if;
        v_spent := coalesce((
            select m.cost_microcents
              from recall.model_spending as m
             where m.user_id = p_job.user_id
               and m.day     = v_day), 0);
        if v_spent < v_limit then
            return null;
        end if;
    end if;

    update recall.jobs as j
       set run_at     = least(v_midnight, p_now + interval '10 minutes'),
           last_error = format('RC005 the jobs of %s have spent %s micro-cents on models on %s '
                               '(UTC), the daily limit is %s',
                               case v_whose when 'user' then 'this user' else 'all users' end,
                               v_spent, v_day, v_limit)
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    return v_whose;
end;
$function$;

comment on function recall._put_off_costly(recall.jobs, timestamptz) is
    'Put a job that needs a model off when a daily limit is reached; says whose, or NULL.';
