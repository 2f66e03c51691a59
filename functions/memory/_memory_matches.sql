-- Tell whether a memory has the attributes that a filter asks for.
-- recall._memory_visible decides about time. session_id selects global rows and rows local to that
-- session. observed_after is inclusive, observed_before is exclusive. The planner inlines it.
create or replace function recall._memory_matches(
    p_memory recall.memory_store,
    p_filter recall.memory_filter
)
returns boolean
language sql
immutable
parallel safe
as $function$
    select (p_filter).is_empty or (
        ((p_filter).kinds is null or (p_memory).kind = any((p_filter).kinds))
        and ((p_filter).kinds_none is null or (p_memory).kind <> all((p_filter).kinds_none))
        and ((p_filter).tiers is null or (p_memory).tier = any((p_filter).tiers))
        and ((p_filter).scopes is null or (p_memory).scope = any((p_filter).scopes))
        and ((p_filter).slots is null or (p_memory).slot = any((p_filter).slots))
        and ((p_filter).tags_any is null or (p_memory).tags && (p_filter).tags_any)
        and ((p_filter).tags_all is null or (p_memory).tags @> (p_filter).tags_all)
        and ((p_filter).provenance is null or (p_memory).provenance = any((p_filter).provenance))
        and ((p_filter).source is null or (p_memory).source = any((p_filter).source))
        and ((p_filter).source_session_id is null
             or (p_memory).source_session_id = (p_filter).source_session_id)
        and ((p_filter).agent_id is null or (p_memory).agent_id = (p_filter).agent_id)
        and ((p_filter).session_id is null or (p_memory).session_id is null
             or (p_memory).session_id = (p_filter).session_id)
        and ((p_filter).metadata is null or (p_memory).metadata @> (p_filter).metadata)
        and ((p_filter).observed_after is null
             or (p_memory).observed_at >= (p_filter).observed_after)
        and ((p_filter).observed_before is null
             or (p_memory).observed_at < (p_filter).observed_before)
        and ((p_filter).valid_at is null
             or ((p_memory).valid_from is null or (p_memory).valid_from <= (p_filter).valid_at)
                and ((p_memory).valid_to is null or (p_memory).valid_to > (p_filter).valid_at))
    );
$function$;

comment on function recall._memory_matches(recall.memory_store, recall.memory_filter) is
    'Whether a memory has the attributes that a filter asks for.';
