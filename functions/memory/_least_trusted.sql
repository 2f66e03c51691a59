-- recall._least_trusted(roles) -> the most that words from these turns are worth
-- With a tool among those who spoke it is a tool's word, without the user it is inferred. NULL: no
-- less than is claimed.
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
    'The provenance that words have at most, by the roles of the turns they come of.';
