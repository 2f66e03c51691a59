-- Return the first problem of an item of put_items after its path, or NULL.
-- Namespace and key must fit into an index row, hence their common limit.
create or replace function recall._item_problem(
    p_item jsonb
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_labels jsonb := p_item -> 'namespace';
    v_bytes  integer;
begin
    if jsonb_typeof(p_item) <> 'object' then
        return ' is not an object';
    elsif p_item - '{namespace,key,value,ttl,vectors}'::text[] <> '{}' then
        return format(' has the unknown field %s', left((
            select min(k.key)
              from jsonb_object_keys(
                       p_item - '{namespace,key,value,ttl,vectors}'::text[]) as k (key)), 80));
    elsif jsonb_typeof(v_labels) is distinct from 'array' or v_labels = '[]'
          or exists (select from jsonb_array_elements(v_labels) as l (label)
                      where jsonb_typeof(l.label) <> 'string' or l.label = '""') then
        return '.namespace is not a list of labels';
    elsif jsonb_typeof(p_item -> 'key') is distinct from 'string' or p_item ->> 'key' = '' then
        return '.key is not a name';
    elsif octet_length(p_item ->> 'key') + octet_length(v_labels::text) > 2000 then
        return '.key and its namespace have more than 2000 bytes';
    elsif not p_item ? 'value' then
        return '.value is missing';
    elsif jsonb_typeof(p_item -> 'ttl') not in ('number', 'null')
          or (p_item ->> 'ttl')::numeric not between 0.00001 and 525600000 then
        return format('.ttl is %s', left((p_item -> 'ttl')::text, 80));
    elsif jsonb_typeof(p_item -> 'vectors') not in ('array', 'null') then
        return '.vectors is not a list';
    elsif exists (
              select from jsonb_array_elements(nullif(p_item -> 'vectors', 'null')) as v (item)
               where (jsonb_typeof(v.item -> 'path') = 'string'
                      and jsonb_typeof(v.item -> 'embedding') in ('array', 'string'))
                     is not true) then
        return '.vectors has an element without path and embedding';
    elsif exists (
              select from jsonb_array_elements(nullif(p_item -> 'vectors', 'null')) as v (item)
               where octet_length(v.item ->> 'path') > 300) then
        return '.vectors has a path of more than 300 bytes';
    end if;
    v_bytes := octet_length((p_item -> 'value')::text);
    if v_bytes > 1048576 then
        return format('.value has %s bytes', v_bytes);
    end if;
    return null;
end;
$function$;

comment on function recall._item_problem(jsonb) is
    'The first problem of an item, after its path; NULL when it is valid.';
