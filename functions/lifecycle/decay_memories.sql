-- recall.decay_memories(limit, as_of) -> (done, more)
-- Memories without an expiry, of little importance (settings.decay_importance), that nobody touched
-- for settings.decay_idle, get one: settings.decay_lifetime from now. A user whose row somebody
-- holds is left for a later call, as `more` says.
-- Locks   users, as far as they are free, until settings.maintenance_lock_time has passed; then
--         their memories.
create or replace function recall.decay_memories(
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
    select s.done, s.more from recall._sweep_memories(false, p_limit, p_as_of) as s;
end;
$function$;

comment on function recall.decay_memories(integer, timestamptz) is
    'Give unimportant memories that nobody touches an expiry, one batch a call.';
