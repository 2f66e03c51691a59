-- recall.enqueue_merges(limit, as_of) -> (done, more)
-- More than settings.merge_above active memories of a user that share a tag and a kind make a
-- `merge` job, of at most settings.merge_batch of them; the rest follows when it is done. What was
-- proposed once is proposed again only beside a memory that was not.
-- Locks   users, as far as they are free, until settings.maintenance_lock_time has passed.
create or replace function recall.enqueue_merges(
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
    select e.done, e.more from recall._enqueue_proposals('merge', p_limit, p_as_of) as e;
end;
$function$;

comment on function recall.enqueue_merges(integer, timestamptz) is
    'Leave jobs to merge memories that share a tag and kind; at most p_limit users and jobs.';
