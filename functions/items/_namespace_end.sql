-- Return the end of the range of namespaces below a prefix, exclusive; NULL without a prefix.
-- In the collation C no label lies between a label and the same label with the character 1.
create or replace function recall._namespace_end(
    p_prefix text[]
)
returns text[]
language sql
immutable
parallel safe
return case
    when cardinality(p_prefix) > 0
        then p_prefix[:cardinality(p_prefix) - 1] || (p_prefix[cardinality(p_prefix)] || chr(1))
end;

comment on function recall._namespace_end(text[]) is
    'The end of the range of namespaces below a prefix; NULL for all namespaces.';
