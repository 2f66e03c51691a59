-- End memories past their expiry, and episodic ones that were used too little for their tier.
-- Ended memories stay on record. A memory that lives as long as its session gets a later expiry
-- with it. The call skips locked users, and `more` reports them.
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
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select s.o_done, s.o_more from recall._sweep_memories(true, p_limit, p_as_of) as s;
end;
$function$;

comment on function recall.expire_memories(integer, timestamptz) is
    'End memories past their expiry, and episodic ones that were used too little for their tier, '
    'one batch a call. done counts memories; more is true while some remain.';
