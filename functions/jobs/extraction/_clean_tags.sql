-- Return the first five distinct tags of a model, in lower case.
create or replace function recall._clean_tags(
    p_tags jsonb
)
returns jsonb
language sql
immutable
parallel safe
return (
    select coalesce(jsonb_agg(t.tag order by t.place), '[]')
      from (
            select t.tag, min(t.place) as place
              from (
                    select recall._clean_line(
                               case when recall._is_sealed(e.tag) then e.tag
                                    else lower(e.tag collate pg_c_utf8) end, 40) as tag, e.place
                      from jsonb_array_elements_text(p_tags) with ordinality as e (tag, place)
                   ) as t
             where t.tag <> ''
             group by t.tag
             order by min(t.place)
             limit 5
           ) as t);

comment on function recall._clean_tags(jsonb) is
    'The first five distinct tags of a model, in lower case; ciphertexts unchanged.';
