-- Build the row that several memories are merged into.
-- It gets the highest tier, global scope, the weakest provenance, the largest importance and
-- confidence, all tags and turns, and the summed use. It is valid from the latest valid_from.
create or replace function recall._merged_memory(
    p_parts    recall.memory_store[],
    p_content  text,
    p_now      timestamptz,
    p_settings recall.settings
)
returns recall.memory_store
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_id     uuid := recall.uuidv7();
    v_parts  record;
    v_memory recall.memory_store;
begin
    select max(p.tier) as tier, max(p.provenance) as provenance, max(p.importance) as importance,
           max(p.confidence) as confidence, max(p.observed_at) as observed_at,
           max(p.valid_from) as valid_from, min(p.review_at) as review_at,
           sum(p.access_count)::integer as access_count,
           sum(p.relevance_accumulator)::real as relevance_accumulator,
           max(p.last_accessed_at) as last_accessed_at,
           case when count(distinct p.agent_id) = 1 and count(p.agent_id) = count(*)
                then min(p.agent_id) end as agent_id
      into v_parts
      from unnest(p_parts) as p;

    v_memory := (recall._candidate_rows(
        p_parts[1].user_id, null,
        jsonb_build_array(jsonb_build_object(
            'content', p_content, 'kind', p_parts[1].kind, 'source', 'consolidation',
            'provenance', v_parts.provenance, 'importance', v_parts.importance,
            'confidence', v_parts.confidence::text, 'observed_at', v_parts.observed_at,
            'valid_from', v_parts.valid_from, 'agent_id', v_parts.agent_id)),
        array[v_id], p_now, p_settings))[1];

    v_memory.tier                  := v_parts.tier;
    v_memory.is_validated          := true;
    v_memory.session_id            := null;
    v_memory.scope                 := 'global';
    v_memory.expires_at            := null;
    v_memory.review_at             := v_parts.review_at;
    v_memory.access_count          := v_parts.access_count;
    v_memory.relevance_accumulator := v_parts.relevance_accumulator;
    v_memory.last_accessed_at      := v_parts.last_accessed_at;
    v_memory.tags                  := array(
        select t.tag from unnest(p_parts) as p cross join unnest(p.tags) as t (tag)
         group by t.tag order by t.tag);
    v_memory.source_turn_ids       := array(
        select t.id from unnest(p_parts) as p cross join unnest(p.source_turn_ids) as t (id)
         group by t.id order by t.id);
    v_memory.provenance_turn_id    := v_memory.source_turn_ids[1];
    v_memory.metadata              := (
        select coalesce(jsonb_object_agg(e.key, e.value order by p.observed_at), '{}')
          from unnest(p_parts) as p cross join jsonb_each(p.metadata - 'verbatim') as e);
    return v_memory;
end;
$function$;

comment on function recall._merged_memory(recall.memory_store[], text, timestamptz,
    recall.settings) is 'The row of a memory that several others are merged into.';
