-- Enqueue `pattern` jobs for sets of episodes that may be about one matter.
-- A set has settings.pattern_episodes or more episodes of settings.pattern_within whose scores
-- reach settings.pattern_deviations (see recall._episode_links); the model decides. Each user gets
-- settings.pattern_jobs_per_day at most; a set comes again only with an episode that was in none.
-- Locks   users, as far as they are free, until settings.maintenance_lock_time has passed.
create or replace function recall.enqueue_patterns(
    p_limit integer     default 1000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
as $function$
begin
    return query
    select e.done, e.more from recall._enqueue_proposals('pattern', p_limit, p_as_of) as e;
end;
$function$;

comment on function recall.enqueue_patterns(integer, timestamptz) is
    'Leave jobs for what keeps coming back in episodes; at most p_limit users and jobs.';
