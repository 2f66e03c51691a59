-- recall._unfit_values(relation, values, columns) -> 'name is value, …', or NULL
-- For the message of an error that PostgreSQL has found: which of the values, by name of a column,
-- its type refuses, and those of the columns that the caller knows to be at fault.
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
