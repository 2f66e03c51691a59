-- Tell whether a condition of a filter has operators such as $gt.
create or replace function recall._has_operators(
    p_condition jsonb
)
returns boolean
language sql
immutable
parallel safe
return jsonb_path_exists(
    p_condition, 'strict $ ? (@.type() == "object").keyvalue().key ? (@ starts with "$")');

comment on function recall._has_operators(jsonb) is
    'Whether a condition of a filter of items is an object with operators.';
