-- recall.enqueue_patterns(limit, as_of) -> (done, more)
-- settings.pattern_episodes or more episodes of a user within settings.pattern_within, each two of
-- them more similar than settings.pattern_similarity, make a `pattern` job. Episodes that were
-- proposed once are proposed again only beside one that was not.
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
