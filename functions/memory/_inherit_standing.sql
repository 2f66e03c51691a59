-- recall._inherit_standing(memory, other) -> the memory, with the better standing of the two
-- The higher tier, the wider scope, the later expiry: a fact does not become short-lived because
-- it changed or was said again; an expiry that came from decay is none. Local in two sessions is
-- global.
create or replace function recall._inherit_standing(
    p_memory recall.memory_store,
    p_other  recall.memory_store
)
returns recall.memory_store
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    p_memory.tier         := greatest(p_memory.tier, p_other.tier);
    p_memory.is_validated := p_memory.is_validated or p_other.is_validated
                             or p_memory.tier >= 'episodic';
    p_memory.expires_at   := case
        when p_memory.expires_at is not null and p_other.expires_at is not null
             and p_memory.is_decaying is not true and p_other.is_decaying is not true
            then greatest(p_memory.expires_at, p_other.expires_at)
    end;
    if p_memory.session_id is distinct from p_other.session_id then
        p_memory.session_id := null;
        p_memory.scope      := 'global';
    end if;
    p_memory.follows_session := (p_memory.follows_session or p_other.follows_session)
                                and p_memory.session_id is not null
                                and p_memory.expires_at is not null;
    return p_memory;
end;
$function$;

comment on function recall._inherit_standing(recall.memory_store, recall.memory_store) is
    'A memory with the higher tier, wider scope and later expiry of two.';
