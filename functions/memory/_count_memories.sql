-- recall._count_memories(user, change, merge_due, pattern_due)
-- Keeps users.active_memory_count, and notes what the sweeps over users shall look at; the caller
-- holds the user's row. Planned as in _lock_user_and_bump_revision.
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
set search_path from current
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
    'Add to the user''s count of active memories, and note that merges or patterns may be due.';
