-- recall._plain_path(row, paths) -> the first of these JSON paths that leads to a readable text
-- Ids and times are no texts of the user. Without paths the row itself is what must not be.
create or replace function recall._plain_path(
    p_row   jsonb,
    p_paths text[]
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    if coalesce(cardinality(p_paths), 0) = 0 then
        return '$';
    end if;
    return (
        select p.path
          from unnest(p_paths) as p (path)
         cross join lateral jsonb_path_query(p_row, p.path::jsonpath) as v (item)
         where jsonb_typeof(v.item) = 'string'
           and v.item <> '""'
           and not recall._is_sealed(v.item #>> '{}')
           and not pg_input_is_valid(v.item #>> '{}', 'uuid')
           and v.item #>> '{}' !~ '^\d{4}-\d\d-\d\d([T ][\d:.+-]+Z?)?$'
         limit 1);
end;
$function$;

comment on function recall._plain_path(jsonb, text[]) is
    'The first JSON path that leads to a text which is not sealed; NULL when there is none.';
