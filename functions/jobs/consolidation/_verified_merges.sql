-- Move the consolidated texts that the model has checked from open to accepted or refused.
-- There must be one check for each of the p_count texts that it was shown.
create or replace function recall._verified_merges(
    p_made   jsonb,
    p_checks jsonb,
    p_count  integer,
    out o_made    jsonb,
    out o_problem text
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if array(select (c.item ->> 'text')::integer
               from jsonb_array_elements(p_checks) as c (item)
              order by 1) <> array(select generate_series(1, p_count)) then
        o_problem := format('not one check for each of the %s texts', p_count);
        return;
    end if;

    select p_made || jsonb_build_object(
               'merges', (p_made -> 'merges') || coalesce(
                   jsonb_agg(o.merge order by o.place) filter (where v.is_supported), '[]'),
               'refused', (p_made -> 'refused') || coalesce(
                   jsonb_agg(o.merge || jsonb_build_object('check', c.item - 'text')
                             order by o.place) filter (where not v.is_supported), '[]'),
               'open', coalesce(
                   jsonb_agg(o.merge order by o.place) filter (where c.item is null), '[]'))
      into o_made
      from jsonb_array_elements(p_made -> 'open') with ordinality as o (merge, place)
      left join jsonb_array_elements(p_checks) as c (item)
        on (c.item ->> 'text')::integer = o.place
     cross join lateral (
            select c.item -> 'lost' = '[]'
                   and btrim(lower(c.item ->> 'added' collate "C"), ' ."-')
                       in ('', 'none', 'nothing', 'null')) as v (is_supported);
end;
$function$;

comment on function recall._verified_merges(jsonb, jsonb, integer) is
    'Merges after the model has checked the open ones, or what is wrong with its checks.';
