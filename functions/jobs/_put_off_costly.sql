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
    v_midnight timestamptz := date_add(date_trunc('day', p_now, 'UTC'), interval '1 day', 'UTC');
    v_reached  record;
begin
    if not recall._needs_model(p_job.kind, p_job.payload) then
        return null;
    end if;
    v_reached := recall._reached_limit(p_job.user_id, p_now);
    if v_reached.o_whose is null then
        return null;
    end if;

    update recall.jobs as j
       set run_at     = least(v_midnight, p_now + interval '10 minutes'),
           last_error = format('RC005 the jobs of %s have spent %s micro-cents on models on %s '
                               '(UTC), the daily limit is %s',
                               case v_reached.o_whose when 'user' then 'this user'
                                                      else 'all users' end,
                               v_reached.o_spent, (p_now at time zone 'UTC')::date,
                               v_reached.o_limit)
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    return v_reached.o_whose;
end;
$function$;

comment on function recall._put_off_costly(recall.jobs, timestamptz) is
    'Put a job that needs a model off when a daily limit is reached; says whose, or NULL.';
