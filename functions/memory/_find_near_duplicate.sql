-- Find the nearest active memory of the same kind and slot whose words state the same, or NULL.
-- User statements match across sessions; output of tools and inferences match only rows with the
-- same session_id.
-- Cost: one scan of the user's vectors.
create or replace function recall._find_near_duplicate(
    p_memory    recall.memory_store,
    p_embedding recall.memory_embedding.embedding%type,
    p_model     text,
    p_distance  real
)
returns recall.memory_store
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
set enable_seqscan = off
set jit = off
as $function$
declare
    v_heads    text[];
    v_numbers  text[];
    v_nominees uuid[];
    v_nearest  integer;
    v_near     recall.memory_store;
    v_verdict  text;
begin
    -- Vectors come first, from the narrow table; mostly no candidate is left. Two statements ensure
    -- that no plan reads contents before, and enable_seqscan = off that the index is used.
    select coalesce(array_agg(n.memory_id order by n.distance, n.memory_id), '{}'::uuid[]),
           count(*) filter (where n.distance <= 0.08)
      into v_nominees, v_nearest
      from (
            select e.memory_id, recall._cosine_distance(e.embedding, p_embedding) as distance
              from recall.memory_embedding as e
             where e.user_id         = p_memory.user_id
               and e.embedding_model = p_model
               and recall._cosine_distance(e.embedding, p_embedding) <= p_distance
               and e.memory_id      <> p_memory.memory_id
             order by recall._cosine_distance(e.embedding, p_embedding), e.memory_id
             limit 20
           ) as n;
    if v_nominees = '{}' then
        return null;
    end if;

    v_heads   := recall._word_heads(p_memory.content);
    v_numbers := recall._plain_numbers(p_memory.content);
    for v_near in
        select m.*
          from recall.memory_store as m
         where m.user_id   = p_memory.user_id
           and m.memory_id = any (v_nominees)
           and m.end_reason is null
           and m.kind  = p_memory.kind
           and m.slot is not distinct from p_memory.slot
           and (m.session_id is not distinct from p_memory.session_id
                or greatest(m.provenance, p_memory.provenance) < 'tool_output')
           and recall._shares_numbers(v_numbers, recall._plain_numbers(m.content))
           -- beyond distance 0.08 most words must be shared, too
           and (array_position(v_nominees, m.memory_id) <= v_nearest
                or recall._shares_words(v_heads, recall._word_heads(m.content)))
         order by array_position(v_nominees, m.memory_id)
    loop
        v_verdict := recall._near_duplicate_guard(v_near.content, p_memory.content);
        if v_verdict = 'duplicate' and recall._may_stand_for(v_near, p_memory)
           or v_verdict = 'merged' and recall._may_stand_for(p_memory, v_near) then
            return v_near;
        end if;
    end loop;
    return null;
end;
$function$;

comment on function recall._find_near_duplicate(recall.memory_store,
    recall.memory_embedding.embedding%type, text, real) is
    'The nearest active memory that states the same by vector and by words.';
