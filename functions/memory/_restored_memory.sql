-- recall._restored_memory(memory, id, now) -> the row that takes it up again
-- The same text, standing and use; a life that had run out begins anew, one that decay had cut
-- short has no end again, and the validity that a successor had closed is open again. To be
-- restored is a touch, or what was ended for want of use would soon end again.
create or replace function recall._restored_memory(
    p_memory recall.memory_store,
    p_id     uuid,
    p_now    timestamptz
)
returns recall.memory_store
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    if p_memory.is_decaying then
        p_memory.expires_at  := null;
        p_memory.is_decaying := false;
    elsif p_memory.expires_at <= p_now then
        p_memory.expires_at := p_now + (p_memory.expires_at - p_memory.created_at);
    end if;
    if p_memory.end_reason = 'superseded' then
        p_memory.valid_to := null;
    end if;
    if p_memory.access_count > 0 then
        p_memory.last_accessed_at := p_now;
    end if;
    p_memory.memory_id     := p_id;
    p_memory.created_at    := p_now;
    p_memory.updated_at    := p_now;
    p_memory.ended_at      := null;
    p_memory.end_reason    := null;
    p_memory.superseded_by := null;
    p_memory.disputes      := null;
    p_memory.is_validated  := p_memory.is_validated or p_memory.tier >= 'episodic';
    return p_memory;
end;
$function$;

comment on function recall._restored_memory(recall.memory_store, uuid, timestamptz) is
    'A new active row with the text of an ended one.';
