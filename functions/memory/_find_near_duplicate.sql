-- recall._find_near_duplicate(memory, embedding, model, distance) -> (memory, verdict), or no row
-- The nearest active memory of the same kind, scope and slot whose words say the same, too. The
-- distances come first and alone, from the narrow table; contents only for the nominees.
-- Cost: one scan of the user's vectors.
create or replace function recall._find_near_duplicate(
    p_memory    recall.memory_store,
    p_embedding halfvec,
    p_model     text,
    p_distance  real
)
returns table (
    near    recall.memory_store,
    verdict text
)
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
as $function$
begin
    return query
    with nominee as materialized (
        select e.memory_id, e.embedding
          from recall.memory_embedding as e
         where e.user_id         = p_memory.user_id
           and e.embedding_model = p_model
           and e.embedding <=> p_embedding <= p_distance
    )
    select m, g.verdict
      from nominee as n
      join recall.memory_store as m on m.user_id = p_memory.user_id and m.memory_id = n.memory_id
     cross join lateral (
            select recall._near_duplicate_guard(m.content, p_memory.content)
           ) as g (verdict)
     where m.memory_id <> p_memory.memory_id
       and m.end_reason is null
       and m.kind  = p_memory.kind
       and m.scope = p_memory.scope
       and m.slot is not distinct from p_memory.slot
       and m.session_id is not distinct from p_memory.session_id
       and case g.verdict
               when 'duplicate' then recall._may_stand_for(m, p_memory)
               when 'merged' then recall._may_stand_for(p_memory, m)
               else false
           end
     order by n.embedding <=> p_embedding, m.memory_id
     limit 1;
end;
$function$;

comment on function recall._find_near_duplicate(recall.memory_store, halfvec, text, real) is
    'The nearest active memory that says the same by vector and by words, and what it makes of it.';
