-- Check that memories of one source fit the hourly limit of untrusted memories.
-- It serves callers that write a batch completely or not at all.
-- Raises  RC010.
create or replace function recall._check_source(
    p_memories recall.memory_store[],
    p_settings recall.settings
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_count integer := (
        select count(*)
          from unnest(p_memories) as m
         where m.provenance >= 'tool_output'
           and m.source <> 'consolidation');
begin
    if v_count > 0 and v_count > recall._source_room(
            p_memories[1].user_id, p_memories[1].source_session_id, p_settings) then
        raise exception using
            errcode = 'RC010',
            message = format(
                '%s memories of tools or inferences are more than settings.source_memories_per_hour'
                ' (%s) leaves to %s', v_count, p_settings.source_memories_per_hour,
                coalesce('session ' || p_memories[1].source_session_id,
                         'what comes without a session')),
            hint    = 'Write fewer, or later; what the user states is not counted. '
                      'recall.revoke_source takes back what a source has brought.';
    end if;
end;
$function$;

comment on function recall._check_source(recall.memory_store[], recall.settings) is
    'Reject more untrusted memories than a source may write in an hour (RC010).';
