-- Return the types that a JSON schema allows.
create or replace function recall._schema_types(
    p_schema jsonb
)
returns text[]
language sql
immutable
parallel safe
return case jsonb_typeof(p_schema -> 'type')
           when 'array' then array(select jsonb_array_elements_text(p_schema -> 'type'))
           else array[p_schema ->> 'type']
       end;

comment on function recall._schema_types(jsonb) is 'Types that a JSON schema allows.';
