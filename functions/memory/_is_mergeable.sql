-- Tell whether a memory may become part of a merged one: it applies everywhere and still holds.
-- A memory with a slot is superseded instead, and episodes become patterns. Output of a tool or an
-- inference at session tier stays out, because a merged memory does not expire.
create or replace function recall._is_mergeable(
    p_memory recall.memory_store,
    p_now    timestamptz
)
returns boolean
language sql
immutable
parallel safe
as $function$
    select (p_memory).scope = 'global'
        and ((p_memory).provenance < 'tool_output' or (p_memory).tier > 'session')
        and (p_memory).slot is null
        and (p_memory).kind not in ('episode', 'pattern')
        and (p_memory).valid_to is null
        and not (p_memory).metadata ? 'achieved_at'
        and ((p_memory).expires_at is null or (p_memory).expires_at > p_now);
$function$;

comment on function recall._is_mergeable(recall.memory_store, timestamptz) is
    'Whether an active memory may be merged with others of its tag and kind.';
