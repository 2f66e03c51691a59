-- recall._is_promotion_due(tier, before, after) -> did its accesses cross a border of promotion?
-- 3 accesses for session tier, 10 for episodic; recall.promote_memories looks at the rest.
create or replace function recall._is_promotion_due(
    p_tier   recall.memory_tier,
    p_before integer,
    p_after  integer
)
returns boolean
language sql
immutable
parallel safe
return p_tier <= 'episodic' and (p_before < 3 and p_after >= 3 or p_before < 10 and p_after >= 10);

comment on function recall._is_promotion_due(recall.memory_tier, integer, integer) is
    'Whether a memory''s access count crossed 3 or 10 on the way.';
