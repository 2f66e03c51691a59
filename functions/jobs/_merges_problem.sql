-- Return the problem with the merges that a model proposed; NULL when there is none.
-- A merge has a text and at least two of the listed memories, and no memory is in two merges. The
-- worker of an encrypted user empties the text of an unfaithful merge.
create or replace function recall._merges_problem(
    p_merges    jsonb,
    p_memories  jsonb,
    p_is_sealed boolean
)
returns text
language sql
immutable
parallel safe
return (
    select case
               when not p_is_sealed and bool_or(m.content = '')
                   then 'content of a merge is empty'
               when min(m.parts) < 2 then 'a merge of fewer than two memories'
               when min(m.least) < 1 or max(m.most) > jsonb_array_length(p_memories)
                   then format('there are no memories but 1 to %s', jsonb_array_length(p_memories))
               when sum(m.parts) > (
                   select count(distinct p.part)
                     from jsonb_path_query(p_merges, '$[*].parts[*]') as p (part))
                   then 'a memory in two merges'
           end
      from (
            select min(e.merge ->> 'content') as content, count(distinct p.part) as parts,
                   min(p.part::integer) as least,
                   max(p.part::integer) as most
              from jsonb_array_elements(p_merges) with ordinality as e (merge, place)
              left join lateral jsonb_array_elements(e.merge -> 'parts') as p (part) on true
             group by e.place
           ) as m);

comment on function recall._merges_problem(jsonb, jsonb, boolean) is
    'Problem with the merges that a model proposed; NULL when there is none.';
