-- Reject a malformed list of items.
-- Raises  RC003 with element and field.
create or replace function recall._check_items(
    p_items jsonb
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
    if jsonb_typeof(p_items) is distinct from 'array' then
        v_problem := 'p_items is not a list';
    else
        select format('p_items[%s]%s', i.ordinal - 1, i.problem)
          into v_problem
          from (
                select e.ordinal, recall._item_problem(e.item) as problem
                  from jsonb_array_elements(p_items) with ordinality as e (item, ordinal)
                offset 0  -- so that each item is judged once
               ) as i
         where i.problem is not null
         order by i.ordinal
         limit 1;
    end if;
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = v_problem,
            hint    = 'An item is an object: namespace (list of labels), key, value (JSON of at '
                      'most 1 MB; null deletes the item), ttl (minutes), vectors (list of '
                      'objects with path and embedding).';
    end if;
end;
$function$;

comment on function recall._check_items(jsonb) is 'Reject a malformed list of items (RC003).';
