-- Return the ids that are not among the others, in their order.
create or replace function recall._uuids_without(
    p_ids    uuid[],
    p_others uuid[]
)
returns uuid[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return array(
        select i.id
          from unnest(p_ids) with ordinality as i (id, ordinal)
         where i.id <> all (p_others)
         order by i.ordinal);
end;
$function$;

comment on function recall._uuids_without(uuid[], uuid[]) is 'An array without some elements.';
