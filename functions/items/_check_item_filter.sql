-- Reject a filter of search_items that is no object or names an unknown operator.
-- Raises  RC003.
create or replace function recall._check_item_filter(
    p_filter jsonb
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_problem text;
begin
    if jsonb_typeof(p_filter) is distinct from 'object' then
        v_problem := format('p_filter is %s, not a JSON object',
                            coalesce(jsonb_typeof(p_filter), 'null'));
    else
        select format('p_filter.%s has the operator %s', left(f.key, 80), left(o.key, 80))
          into v_problem
          from jsonb_each(p_filter) as f
         cross join lateral jsonb_object_keys(
                   case when jsonb_typeof(f.value) = 'object' then f.value else '{}' end) as o (key)
         where recall._has_operators(f.value)
           and o.key not in ('$eq', '$ne', '$gt', '$gte', '$lt', '$lte')
         limit 1;
    end if;
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = v_problem,
            hint    = 'Pass fields with their value, or with an object of $eq, $ne, $gt, $gte, '
                      '$lt and $lte.';
    end if;
end;
$function$;

comment on function recall._check_item_filter(jsonb) is
    'Reject a malformed filter of items (RC003).';
