-- Describe the values that do not fit their columns as 'name is value, …', or return NULL.
-- For the message of an error that PostgreSQL raised: values that a type rejects, and those of
-- columns that the caller names.
create or replace function recall._unfit_values(
    p_relation regclass,
    p_values   jsonb,
    p_columns  text[] default '{}'
)
returns text
language sql
stable
parallel safe
begin atomic
    select string_agg(format('%s is %s', v.key, left(v.value::text, 80)), ', ' order by v.key)
      from jsonb_each(p_values) as v
      join pg_catalog.pg_attribute as a
        on a.attrelid = p_relation
       and a.attname  = v.key
     where v.key = any(p_columns)
        or (a.attndims = 0 or jsonb_typeof(v.value) <> 'array')
           and not pg_input_is_valid(v.value #>> '{}', format_type(a.atttypid, a.atttypmod));
end;

comment on function recall._unfit_values(regclass, jsonb, text[]) is
    'The values that do not fit their columns, with their names.';
