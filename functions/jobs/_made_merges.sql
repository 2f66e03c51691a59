-- Return a model's merges as a result has them: texts, and the ids of the memories they stand for.
create or replace function recall._made_merges(
    p_merges jsonb,
    p_keep   jsonb
)
returns jsonb
language sql
immutable
parallel safe
return jsonb_build_object('merges', (
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
           ) as c (content)
     where c.content collate pg_c_utf8 ~ '[[:alnum:]]'));

comment on function recall._made_merges(jsonb, jsonb) is
    'A model''s merges with the ids of the memories they stand for.';
