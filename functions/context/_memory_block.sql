-- recall._memory_block(memories, options) -> the block, or NULL when none was taken
-- Delimited, introduced as data, one line a memory, by kind and then in the order of rank.
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
           || string_agg(recall._memory_line(m.kind, m.content, m.observed_at), E'\n'
                         order by m.ordinality)
           || E'\n</memories>'
      from unnest(p_memories) with ordinality as m
     where m.taken
);

comment on function recall._memory_block(recall.context_memory[], jsonb) is
    'The memory block of a context in format typed.';
