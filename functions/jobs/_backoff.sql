-- Return the wait before the next attempt of a job.
-- It doubles from job_backoff_base to job_backoff_cap, with up to 20 % of jitter either way.
create or replace function recall._backoff(
    p_attempts integer
)
returns interval
language sql
volatile
parallel safe
as $function$
    select least(s.job_backoff_cap, s.job_backoff_base * power(2, least(p_attempts - 1, 20)))
           * (0.8 + 0.4 * random())
      from recall.settings as s;
$function$;

comment on function recall._backoff(integer) is
    'Wait before the next attempt: it doubles up to job_backoff_cap, with up to 20 % of jitter.';
