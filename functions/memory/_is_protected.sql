-- recall._is_protected(memory, provenance, settings) -> must it not be superseded by such a word?
-- What a tool or the system inferred never supersedes what the user said in his own words.
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
    'Whether a memory is the user''s own word, and the other one is not.';
