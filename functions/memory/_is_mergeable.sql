-- recall._is_mergeable(memory, now) -> may it become part of a merged memory?
-- What applies everywhere and still holds; what has a slot has its own way of being replaced, and
-- episodes and patterns are made of each other.
create or replace function recall._is_mergeable(
    p_memory recall.memory_store,
    p_now    timestamptz
)
returns boolean
language sql
immutable
parallel safe
return (p_memory).scope = 'global'
    and (p_memory).slot is null
    and (p_memory).kind not in ('episode', 'pattern')
    and (p_memory).valid_to is null
    and not (p_memory).metadata ? 'achieved_at'
    and ((p_memory).expires_at is null or (p_memory).expires_at > p_now);

comment on function recall._is_mergeable(recall.memory_store, timestamptz) is
    'Whether an active memory may be merged with others of its tag and kind.';
