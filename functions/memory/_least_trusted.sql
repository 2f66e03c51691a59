-- Return the highest provenance that text from turns of these roles may have.
-- With a tool among them it is output of a tool, without the user an inference. NULL: no limit.
create or replace function recall._least_trusted(
    p_roles text[]
)
returns recall.provenance
language sql
immutable
parallel safe
return case
    when p_roles && '{tool,function}'::text[] then 'tool_output'::recall.provenance
    when p_roles <> '{}' and not p_roles @> '{user}'::text[] then 'system_inferred'
end;

comment on function recall._least_trusted(text[]) is
    'The highest provenance of text from turns of these roles; NULL: no limit.';
