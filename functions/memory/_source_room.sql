-- recall._source_room(user, session, settings) -> how many more untrusted memories may come of it
-- What a tool said or the system inferred counts by its session (NULL: those without one), for an
-- hour, so that no page or tool can fill a user's memory; what consolidation made of it does not
-- count again. NULL when there is no limit.
create or replace function recall._source_room(
    p_user_id    uuid,
    p_session_id uuid,
    p_settings   recall.settings
)
returns integer
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_since timestamptz := clock_timestamp() - interval '1 hour';
    v_count bigint;
begin
    if p_settings.source_memories_per_hour is null then
        return null;
    end if;
    select count(*)
      into v_count
      from recall.memory_store as m
     where m.user_id = p_user_id
       and (m.source_session_id = p_session_id
            or p_session_id is null and m.source_session_id is null)
       and m.provenance >= 'tool_output'
       and m.source <> 'consolidation'
       and m.created_at > v_since;
    return greatest(0, p_settings.source_memories_per_hour - v_count);
end;
$function$;

comment on function recall._source_room(uuid, uuid, recall.settings) is
    'How many more memories a session''s tools and inferences may bring in this hour.';
