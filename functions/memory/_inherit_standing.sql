-- Give a memory the higher tier, the wider scope and the later expiry of two.
-- An expiry that decay has set counts as none. A memory that is local in two sessions becomes
-- global. Output of a tool or an inference widens and prolongs nothing outside its session.
create or replace function recall._inherit_standing(
    p_memory recall.memory_store,
    p_other  recall.memory_store
)
returns recall.memory_store
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_other.provenance >= 'tool_output' and p_memory.session_id is not null
       and p_memory.session_id is distinct from p_other.session_id then
        return p_memory;
    end if;
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
