-- Build the memory row of a pattern: procedural, global, without expiry.
-- Its metadata lists the episodes and their solutions, including those of the pattern it replaces.
create or replace function recall._pattern_memory(
    p_episodes recall.memory_store[],
    p_known    recall.memory_store,
    p_result   jsonb,
    p_settings recall.settings
)
returns recall.memory_store
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_id     uuid        := recall.uuidv7();
    v_now    timestamptz := clock_timestamp();
    v_solved jsonb;
    v_memory recall.memory_store;
begin
    select coalesce(jsonb_agg(
               s.item || jsonb_build_object(
                   'date', to_char(e.observed_at at time zone 'UTC', 'YYYY-MM-DD'))
               order by e.observed_at, s.ordinal), '[]')
      into v_solved
      from jsonb_array_elements(
               recall._masked_json(nullif(p_result -> 'solutions', 'null'), p_settings))
               with ordinality as s (item, ordinal)
      join unnest(p_episodes) as e on e.memory_id = (s.item ->> 'memory_id')::uuid;

    v_memory := (recall._candidate_rows(
        p_episodes[1].user_id, null,
        jsonb_build_array(jsonb_build_object(
            'content', p_result -> 'content', 'kind', 'pattern', 'source', 'consolidation',
            'provenance', 'system_inferred', 'tags', p_result -> 'tags',
            'importance', 0.6,
            'observed_at', (select max(e.observed_at) from unnest(p_episodes) as e))),
        array[v_id], v_now, p_settings))[1];

    v_memory.tier               := 'procedural';
    v_memory.session_id         := null;
    v_memory.scope              := 'global';
    v_memory.is_validated       := true;
    v_memory.expires_at         := null;
    v_memory.source_turn_ids    := array(
        select t.id
          from (select unnest(p_known.source_turn_ids)
                union
                select unnest(e.source_turn_ids) from unnest(p_episodes) as e) as t (id)
         order by t.id);
    v_memory.provenance_turn_id := p_episodes[cardinality(p_episodes)].provenance_turn_id;
    v_memory.tags               := v_memory.tags || array(
        select t.tag from unnest(p_known.tags) as t (tag) where t.tag <> all (v_memory.tags));
    v_memory.metadata           := coalesce(p_known.metadata, '{}') || jsonb_build_object(
        'episodes', (
            select jsonb_agg(i.id order by i.id)
              from (select jsonb_array_elements_text(p_known.metadata -> 'episodes')
                    union
                    select e.memory_id::text from unnest(p_episodes) as e) as i (id)),
        'solutions', coalesce((
            select jsonb_agg(s.item)
              from jsonb_array_elements(p_known.metadata -> 'solutions') as s (item)
             where not v_solved @> jsonb_build_array(
                       jsonb_build_object('memory_id', s.item -> 'memory_id'))), '[]')
            || v_solved);
    return v_memory;
end;
$function$;

comment on function recall._pattern_memory(recall.memory_store[], recall.memory_store, jsonb,
    recall.settings) is 'The memory row of a pattern, with its episodes and solutions.';
