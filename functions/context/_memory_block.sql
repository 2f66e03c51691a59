-- recall._memory_block(memories, options) -> the block, or NULL when none was taken
-- Delimited, introduced as data, one line a memory, in the order of rank; in selection all by
-- observed_at, in format bullets facts before episodes.
create or replace function recall._memory_block(
    p_memories recall.context_memory[],
    p_options  jsonb
)
returns text
language sql
stable
parallel safe
return (
    select recall._memory_heading(p_options) || E'\n<memories>\n'
           || string_agg(
                  recall._memory_line(m.kind, m.content, m.observed_at, p_options ->> 'format'),
                  E'\n'
                  order by case when p_options ->> 'format' = 'bullets' then m.kind = 'episode' end,
                           case when p_options ->> 'selection' = 'all' then m.observed_at end,
                           case when p_options ->> 'selection' = 'all' then m.memory_id end,
                           m.ordinality)
           || E'\n</memories>'
      from unnest(p_memories) with ordinality as m
     where m.taken
);

comment on function recall._memory_block(recall.context_memory[], jsonb) is
    'The memory block of a context.';
