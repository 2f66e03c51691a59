-- Enqueue `pattern` jobs for sets of episodes that may be about one matter.
-- A set has at least settings.pattern_episodes episodes of settings.pattern_within, and their mean
-- score reaches settings.pattern_deviations (see recall._episode_links). The model decides. A user
-- gets at most settings.pattern_jobs_per_day. A set is proposed again only with an episode that was
-- never proposed.
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
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select e.done, e.more from recall._enqueue_proposals('pattern', p_limit, p_as_of) as e;
end;
$function$;

comment on function recall.enqueue_patterns(integer, timestamptz) is
    'Enqueue jobs that ask a model for recurring patterns in episodes, for at most p_limit users '
    'and jobs. done counts jobs; more is true while some users remain.';
