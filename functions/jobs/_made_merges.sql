-- Convert a model's merges to texts with the ids of the memories they replace.
create or replace function recall._made_merges(
    p_merges jsonb,
    p_keep   jsonb
)
returns jsonb
language sql
immutable
parallel safe
return (
    select coalesce(jsonb_agg(jsonb_build_object(
               'content', c.content,
               'memory_ids', (
                   select jsonb_agg(p_keep #> array['memories', (p.part - 1)::text]
                                    order by p.part)
                     from (select distinct q.part::integer
                             from jsonb_array_elements_text(e.merge -> 'parts') as q (part)
                          ) as p (part))) order by e.place), '[]')
      from jsonb_array_elements(p_merges) with ordinality as e (merge, place)
     cross join lateral (
            select recall._clean_line(e.merge ->> 'content', (p_keep ->> 'characters')::integer)
           ) as c (content));

comment on function recall._made_merges(jsonb, jsonb) is
    'A model''s merges: texts with the ids of the memories they replace.';
