-- Return how many more untrusted memories a source may write in this hour; NULL: no limit.
-- A source is a session, or NULL for all writes without one. The budget prevents that a page or a
-- tool fills a user's memory. Consolidated memories do not count again.
create or replace function recall._source_room(
    p_user_id    uuid,
    p_session_id uuid,
    p_settings   recall.settings
)
returns integer
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
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
    'How many more tool outputs and inferences a session may store in this hour; NULL: no limit.';
