-- Enqueue `merge` jobs that consolidate memories with the same tag and kind.
-- It takes more than settings.merge_above such memories of a user. A job has at most
-- settings.merge_batch; the rest follows when it is done. A memory that was proposed once is
-- proposed again only beside one that was not.
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
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select e.done, e.more from recall._enqueue_proposals('merge', p_limit, p_as_of) as e;
end;
$function$;

comment on function recall.enqueue_merges(integer, timestamptz) is
    'Enqueue jobs that consolidate memories with the same tag and kind, for at most p_limit users '
    'and jobs. done counts jobs; more is true while some users remain.';
