-- recall.expire_memories(limit, as_of) -> (done, more)
-- Memories past their expiry end (they stay on record), and so do episodic ones that were used too
-- little for their tier; what lives as long as its session moves on with it. A user whose row
-- somebody holds is left for a later call, as `more` says.
-- Locks   users, as far as they are free, until settings.maintenance_lock_time has passed; then
--         their memories.
create or replace function recall.expire_memories(
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
    select s.done, s.more from recall._sweep_memories(true, p_limit, p_as_of) as s;
end;
$function$;

comment on function recall.expire_memories(integer, timestamptz) is
    'End memories past their expiry and episodic ones that are too weak, one batch a call.';
