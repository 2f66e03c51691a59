-- Find memories that are due for a check, by user.
-- p_without excludes users whose rows are locked. The settings below force the index: a generic
-- plan knows neither the limit nor how few memories are due.
create or replace function recall._due_memories(
    p_has_expiry boolean,
    p_is_active  boolean,
    p_until      timestamptz,
    p_limit      bigint,
    p_without    uuid[]
)
returns table (
    user_id    uuid,
    memory_ids uuid[]
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $function$
begin
    return query
    select d.user_id, array_agg(d.memory_id order by d.memory_id)
      from (
            select m.user_id, m.memory_id
              from recall.memory_store as m
             where m.has_expiry = p_has_expiry
               and m.check_at <= p_until
               and m.is_active  = p_is_active
               and m.user_id   <> all (p_without)
             order by m.is_active, m.has_expiry, m.check_at
             limit p_limit
           ) as d
     group by d.user_id;
end;
$function$;

comment on function recall._due_memories(boolean, boolean, timestamptz, bigint, uuid[]) is
    'Memories that expire_memories, decay_memories or purge_expired must check, by user.';
