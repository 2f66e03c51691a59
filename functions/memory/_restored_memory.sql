-- Build the row that restores an ended memory: the same text, tier and use.
create or replace function recall._restored_memory(
    p_memory recall.memory_store,
    p_id     uuid,
    p_now    timestamptz
)
returns recall.memory_store
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    -- An expiry set by decay is removed; a passed expiry starts again with its full length.
    if p_memory.is_decaying then
        p_memory.expires_at  := null;
        p_memory.is_decaying := false;
    elsif p_memory.expires_at <= p_now then
        p_memory.expires_at := p_now + (p_memory.expires_at - p_memory.created_at);
    end if;
    -- Reopen the validity that the successor closed.
    if p_memory.end_reason = 'superseded' then
        p_memory.valid_to := null;
    end if;
    -- The restore counts as a touch; otherwise the next sweep ends an unused memory again.
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
