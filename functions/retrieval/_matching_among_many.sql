-- Return the memories that a filter selects of very many, by a plan for this filter alone.
-- The setting also applies to the statement in _matching_memories. Planning takes half a
-- millisecond. The plan compares only the keys that the filter has, and reads 20,000 memories in
-- 0.5 to 0.65 of the time.
create or replace function recall._matching_among_many(
    p_user_id  uuid,
    p_filter   recall.memory_filter,
    p_as_of    timestamptz,
    p_sessions uuid[]
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    return recall._matching_memories(p_user_id, p_filter, p_as_of, p_sessions);
end;
$function$;

comment on function recall._matching_among_many(uuid, recall.memory_filter, timestamptz, uuid[]) is
    'Memories of a user who has very many that match a filter and are, or were at a time, visible.';
