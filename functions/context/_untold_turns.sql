-- Return the recalled turns that no fact of the context rests on.
-- A turn beside the fact drawn from it repeats the fact. Without such turns, 1,000 tokens for both
-- hold four in a hundred more of what a question needs (benchmarks/memory_exam.py). Turns of
-- episodes and patterns stay: their lines say less than their turns.
create or replace function recall._untold_turns(
    p_user_id  uuid,
    p_turns    recall.recalled_turn[],
    p_memories recall.context_memory[]
)
returns recall.recalled_turn[]
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_ids  constant uuid[] := array(
        select c.memory_id from unnest(p_memories) as c where c.taken);
    v_told uuid[];
begin
    v_told := array(
        select t.id
          from recall.memory_store as m
         cross join lateral unnest(m.source_turn_ids) as t (id)
         where m.user_id   = p_user_id
           and m.memory_id = any (v_ids)
           and m.kind not in ('episode', 'pattern'));
    return array(
        select p_turns[t.ordinality]
          from unnest(p_turns) with ordinality as t
         where t.message_id <> all (v_told)
         order by t.ordinality);
end;
$function$;

comment on function recall._untold_turns(uuid, recall.recalled_turn[], recall.context_memory[]) is
    'The recalled turns that no fact of a context rests on.';
