-- Tell whether a text contains one of the parts; true where no part is given.
create or replace function recall._has_any(
    p_text  text,
    p_parts text[]
)
returns boolean
language sql
immutable
parallel safe
return p_parts = '{}' or exists (
    select from unnest(p_parts) as n (part) where strpos(p_text collate "C", n.part) > 0);

comment on function recall._has_any(text, text[]) is
    'Whether a text has any of some parts; true when there are none.';
