-- Tell whether a namespace begins with a prefix, or ends with a suffix, in which * is any label.
create or replace function recall._namespace_matches(
    p_namespace text[],
    p_prefix    text[],
    p_suffix    text[]
)
returns boolean
language sql
immutable
parallel safe
return (
    cardinality(p_namespace) >= greatest(cardinality(p_prefix), cardinality(p_suffix))
    and not exists (
        select
          from unnest(p_prefix) with ordinality as p (label, n)
         where p.label <> '*'
           and p.label <> p_namespace[p.n])
    and not exists (
        select
          from unnest(p_suffix) with ordinality as s (label, n)
         where s.label <> '*'
           and s.label <> p_namespace[cardinality(p_namespace) - cardinality(p_suffix) + s.n])
);

comment on function recall._namespace_matches(text[], text[], text[]) is
    'Whether a namespace has this prefix and suffix; the label * stands for any label.';
