-- Update users.active_memory_count, and mark the user for the consolidation and pattern sweeps.
-- The caller has locked the user. A custom plan locks one partition, a generic plan all of them.
create or replace function recall._count_memories(
    p_user_id     uuid,
    p_change      integer,
    p_merge_due   boolean default false,
    p_pattern_due boolean default false
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    update recall.users as u
       set active_memory_count = u.active_memory_count + p_change,
           merge_due           = u.merge_due or p_merge_due,
           pattern_due         = u.pattern_due or p_pattern_due and u.has_vectors
     where u.user_id = p_user_id;
end;
$function$;

comment on function recall._count_memories(uuid, integer, boolean, boolean) is
    'Add to the user''s count of active memories, and mark consolidation or patterns as due.';
