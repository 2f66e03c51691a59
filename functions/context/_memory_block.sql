-- Write the memory block of a context, NULL without memories, and list its memories.
-- The block is delimited and introduced as data, with one line per memory in the order of rank.
-- Selection all orders lines by observed_at, format bullets puts facts before episodes. o_used
-- keeps the order of rank.
create or replace function recall._memory_block(
    p_memories recall.context_memory[],
    p_options  jsonb,
    out o_text text,
    out o_used jsonb
)
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_format     constant text    := p_options ->> 'format';
    v_is_bullets constant boolean := v_format = 'bullets';
    v_is_all     constant boolean := p_options ->> 'selection' = 'all';
begin
    select recall._memory_heading(p_options) || E'\n<memories>\n'
           || string_agg(
                  recall._memory_line(m.kind, m.content, m.observed_at, v_format), E'\n'
                  order by case when v_is_bullets then m.kind = 'episode' end,
                           case when v_is_all then m.observed_at end,
                           case when v_is_all then m.memory_id end,
                           m.ordinality)
           || E'\n</memories>',
           coalesce(jsonb_agg(jsonb_build_object(
               'id', m.memory_id, 'score', m.score, 'relevance', m.relevance, 'match', m.match)
               order by m.ordinality), '[]')
      into o_text, o_used
      from unnest(p_memories) with ordinality as m
     where m.taken;
end;
$function$;

comment on function recall._memory_block(recall.context_memory[], jsonb) is
    'The memory block of a context, and its memories with their scores.';
