-- Turn a memory of one session that the user confirmed into an episodic memory of all sessions.
-- Verbatim texts, output of tools and inferences stay as they are. So do all memories when every
-- tier is earned by use (settings.extracted_tier = session).
create or replace function recall._raise_to_episodic(
    p_memory   recall.memory_store,
    p_now      timestamptz,
    p_settings recall.settings
)
returns recall.memory_store
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_memory.tier <> 'session' or p_memory.session_id is null
       or p_memory.provenance >= 'tool_output' or p_settings.extracted_tier = 'session' then
        return p_memory;
    end if;
    p_memory.tier         := 'episodic';
    p_memory.scope        := 'global';
    p_memory.session_id   := null;
    p_memory.is_validated := true;
    -- an expiry that the caller chose stays
    if p_memory.follows_session then
        p_memory.follows_session := false;
        p_memory.expires_at := p_now + least(
            p_settings.episode_lifetime,
            (select k.lifetime from recall.memory_kinds as k where k.kind = p_memory.kind));
    end if;
    return p_memory;
end;
$function$;

comment on function recall._raise_to_episodic(recall.memory_store, timestamptz, recall.settings) is
    'A confirmed memory of one session as an episodic memory of all.';
