-- Return the memories that a filter, or a search in the past, selects.
-- Ordinary searches read all active memories without it.
create or replace function recall._matching_memories(
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
as $function$
begin
    return array(
        select m.memory_id
          from recall.memory_store as m
         where m.user_id = p_user_id
           and (m.session_id is null or m.session_id = any (p_sessions))
           and recall._memory_visible(row(m.*), p_filter, p_as_of)
           and recall._memory_matches(row(m.*), p_filter)
           and recall._staleness_matches(row(m.*), p_filter));
end;
$function$;

comment on function recall._matching_memories(uuid, recall.memory_filter, timestamptz, uuid[]) is
    'Memories that match a filter and are, or were at a time, visible.';
