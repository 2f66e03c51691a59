-- Tell whether a memory must not be superseded by a text of the given provenance.
-- Output of a tool or an inference never supersedes what the user stated.
create or replace function recall._is_protected(
    p_memory     recall.memory_store,
    p_provenance recall.provenance,
    p_settings   recall.settings
)
returns boolean
language sql
immutable
parallel safe
as $function$
    select (p_settings).protect_user_stated
        and (p_memory).provenance <= 'preference'
        and p_provenance >= 'tool_output';
$function$;

comment on function recall._is_protected(recall.memory_store, recall.provenance, recall.settings) is
    'Whether a memory is stated by the user and the provenance is a tool''s or an inference.';
