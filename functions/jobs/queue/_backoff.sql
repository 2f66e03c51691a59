-- Return the wait before the next attempt of a job.
-- It doubles from 10 seconds to an hour, with up to 20 % of jitter either way.
create or replace function recall._backoff(
    p_attempts integer
)
returns interval
language sql
volatile
parallel safe
as $function$
    select least(interval '1 hour', interval '10 seconds' * power(2, least(p_attempts - 1, 20)))
           * (0.8 + 0.4 * random());
$function$;

comment on function recall._backoff(integer) is
    'Wait before the next attempt: it doubles up to an hour, with up to 20 % of jitter.';
