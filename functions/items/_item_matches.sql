-- Tell whether a value passes a filter of search_items.
-- A comparison of values of different JSON types fails, except by $eq and $ne. A missing field
-- counts as null.
create or replace function recall._item_matches(
    p_value  jsonb,
    p_filter jsonb
)
returns boolean
language sql
immutable
parallel safe
return (
    select coalesce(bool_and(
               case o.name
                   when '$eq'  then v.field = o.operand
                   when '$ne'  then v.field <> o.operand
                   when '$gt'  then v.is_alike and v.field > o.operand
                   when '$gte' then v.is_alike and v.field >= o.operand
                   when '$lt'  then v.is_alike and v.field < o.operand
                   when '$lte' then v.is_alike and v.field <= o.operand
                   else v.field @> o.operand
               end), true)
      from jsonb_each(p_filter) as f (name, condition)
     cross join lateral (
            select e.key, e.value
              from jsonb_each(case when recall._has_operators(f.condition)
                                   then f.condition else '{}' end) as e
             union all
            select case when jsonb_typeof(f.condition) = 'object' then 'contains' else '$eq' end,
                   f.condition
             where not recall._has_operators(f.condition)
           ) as o (name, operand)
     cross join lateral (
            select coalesce(p_value -> f.name, 'null'),
                   jsonb_typeof(p_value -> f.name) = jsonb_typeof(o.operand)
           ) as v (field, is_alike)
);

comment on function recall._item_matches(jsonb, jsonb) is
    'Whether a value passes a filter: fields with a value, or with $eq, $ne, $gt, $gte, $lt, '
    '$lte.';
