-- Return a schema as an endpoint gets it: without the keys that it does not take.
create or replace function recall._sent_schema(
    p_schema jsonb,
    p_keys   text[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    return case jsonb_typeof(p_schema)
        when 'object' then (
            select coalesce(jsonb_object_agg(e.key, recall._sent_schema(e.value, p_keys)), '{}')
              from jsonb_each(p_schema) as e
             where e.key <> all (p_keys))
        when 'array' then (
            select coalesce(jsonb_agg(recall._sent_schema(e.value, p_keys) order by e.place), '[]')
              from jsonb_array_elements(p_schema) with ordinality as e (value, place))
        else p_schema
    end;
end;
$function$;

comment on function recall._sent_schema(jsonb, text[]) is
    'A JSON schema without some keys, at any depth.';
