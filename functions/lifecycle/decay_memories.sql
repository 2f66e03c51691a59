-- Set an expiry on unimportant memories that nobody has used for a long time.
-- These are memories without an expiry, below settings.decay_importance and unused for
-- settings.decay_idle. They expire settings.decay_lifetime from now. The call skips locked users,
-- and `more` reports them.
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
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select s.o_done, s.o_more from recall._sweep_memories(false, p_limit, p_as_of) as s;
end;
$function$;

comment on function recall.decay_memories(integer, timestamptz) is
    'Set an expiry on unimportant memories that nobody has used for settings.decay_idle, one '
    'batch a call. done counts memories; more is true while some remain.';
