-- recall._plain_path(row, paths, keys) -> the first of these paths that leads to a readable text
-- One that is sealed by another key than these is as good as readable, or nobody can read it. Ids
-- and times are no texts of the user. The path $ says that the row itself must not be.
create or replace function recall._plain_path(
    p_row   jsonb,
    p_paths text[],
    p_keys  text[]
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    return (
        select p.path
          from unnest(p_paths) as p (path)
         cross join lateral jsonb_path_query(p_row, p.path::jsonpath) as v (item)
         where p.path = '$'
            or jsonb_typeof(v.item) = 'string'
               and v.item <> '""'
               and not (recall._is_sealed(v.item #>> '{}')
                        and split_part(v.item #>> '{}', ':', 3) = any (p_keys))
               and not pg_input_is_valid(v.item #>> '{}', 'uuid')
               and v.item #>> '{}' !~ '^\d{4}-\d\d-\d\d([T ][\d:.+-]+Z?)?$'
         limit 1);
end;
$function$;

comment on function recall._plain_path(jsonb, text[], text[]) is
    'The first JSON path that leads to a text which is not sealed by one of these keys, or NULL.';
