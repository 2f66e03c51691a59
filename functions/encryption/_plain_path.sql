-- Return the first of these JSON paths that leads to plaintext, or NULL.
-- A text encrypted with a key outside of the list counts as plaintext: nobody may be able to
-- decrypt it. Ids and times are not texts. The path $ rejects every row.
create or replace function recall._plain_path(
    p_row   jsonb,
    p_paths text[],
    p_keys  text[]
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
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
    'The first JSON path that leads to a text not encrypted with one of these keys, or NULL.';
