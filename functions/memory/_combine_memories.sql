-- Return the kept memory after another one repeated it.
-- A repetition counts as an access of relevance 1.0. Only an equal text also passes on a higher
-- provenance: the user may state what a tool had inferred.
create or replace function recall._combine_memories(
    p_kept         recall.memory_store,
    p_other        recall.memory_store,
    p_is_same_text boolean,
    p_now          timestamptz,
    p_settings     recall.settings
)
returns recall.memory_store
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_kept recall.memory_store := p_kept;
begin
    -- A statement of the user in another turn confirms the memory.
    if p_other.provenance < 'tool_output'
       and not p_other.source_turn_ids <@ p_kept.source_turn_ids then
        v_kept := recall._raise_to_episodic(v_kept, p_now, p_settings);
    end if;
    v_kept := recall._inherit_standing(v_kept, p_other);
    if p_is_same_text then
        v_kept.slot := coalesce(v_kept.slot, p_other.slot);
        if p_other.provenance < v_kept.provenance then
            v_kept.provenance := p_other.provenance;
            v_kept.source     := p_other.source;
        end if;
    end if;
    v_kept.confidence := greatest(v_kept.confidence, p_other.confidence);
    v_kept.importance := greatest(v_kept.importance, p_other.importance);
    v_kept.tags       := v_kept.tags || array(
        select t.tag from unnest(p_other.tags) as t (tag) where t.tag <> all (p_kept.tags));
    v_kept.source_turn_ids := v_kept.source_turn_ids || array(
        select t.id from unnest(p_other.source_turn_ids) as t (id)
         where t.id <> all (p_kept.source_turn_ids));
    v_kept.metadata := p_other.metadata || v_kept.metadata;
    if p_other.metadata -> 'verbatim' is distinct from 'true' then
        v_kept.metadata := v_kept.metadata - 'verbatim';
    end if;
    v_kept.valid_from := least(v_kept.valid_from, p_other.valid_from);

    v_kept.access_count          := p_kept.access_count + p_other.access_count + 1;
    v_kept.relevance_accumulator := p_kept.relevance_accumulator
                                    + p_other.relevance_accumulator + 1.0;
    v_kept.last_accessed_at      := greatest(p_now, p_kept.last_accessed_at);
    v_kept.updated_at            := p_now;
    return v_kept;
end;
$function$;

comment on function recall._combine_memories(recall.memory_store, recall.memory_store, boolean,
    timestamptz, recall.settings) is
    'A memory after another one repeated it.';
