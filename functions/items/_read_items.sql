-- Return valid items as rows, each namespace and key once; value is NULL for a deletion.
create or replace function recall._read_items(
    p_user_id uuid,
    p_items   jsonb,
    p_vectors recall.item_vectors[],
    p_now     timestamptz
)
returns setof recall.items
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select p_user_id, n.namespace, i.item ->> 'key', nullif(i.item -> 'value', 'null'),
           (octet_length((i.item -> 'value')::text) + coalesce((
               select sum(4 * cardinality(v.embedding::real[]))
                 from unnest(p_vectors) as v
                where v.namespace = n.namespace
                  and v.key       = i.item ->> 'key'), 0))::integer,
           t.ttl, p_now, p_now, p_now + t.ttl
      from (
            select distinct on (e.item -> 'namespace', e.item -> 'key') e.item
              from jsonb_array_elements(p_items) with ordinality as e (item, ordinal)
             order by e.item -> 'namespace', e.item -> 'key', e.ordinal desc
           ) as i
     cross join lateral (
            select array(select jsonb_array_elements_text(i.item -> 'namespace'))
           ) as n (namespace)
     cross join lateral (
            select make_interval(secs => (i.item ->> 'ttl')::double precision * 60)
           ) as t (ttl);
end;
$function$;

comment on function recall._read_items(uuid, jsonb, recall.item_vectors[], timestamptz) is
    'Items of put_items as rows, each namespace and key with its last value.';
