-- Return what is wrong with a model's checks: there must be one for each text that it was shown.
create or replace function recall._checks_problem(
    p_checks jsonb,
    p_count  integer
)
returns text
language sql
immutable
parallel safe
return case
    when array(select (c.item ->> 'text')::integer
                 from jsonb_array_elements(p_checks) as c (item)
                order by 1) <> array(select generate_series(1, p_count))
    then format('not one check for each of the %s texts', p_count)
end;

comment on function recall._checks_problem(jsonb, integer) is
    'Return the first problem of a model''s checks of merged texts, or NULL.';
