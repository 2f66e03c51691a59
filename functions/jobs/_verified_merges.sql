-- Move the consolidated texts that the model has checked from open to accepted or refused.
create or replace function recall._verified_merges(
    p_made   jsonb,
    p_checks jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    return (
        select p_made || jsonb_build_object(
                   'merges', (p_made -> 'merges') || coalesce(
                       jsonb_agg(o.merge order by o.place) filter (where v.is_supported), '[]'),
                   'refused', (p_made -> 'refused') || coalesce(
                       jsonb_agg(o.merge || jsonb_build_object('check', c.item - 'text')
                                 order by o.place) filter (where not v.is_supported), '[]'),
                   'open', coalesce(
                       jsonb_agg(o.merge order by o.place) filter (where c.item is null), '[]'))
          from jsonb_array_elements(p_made -> 'open') with ordinality as o (merge, place)
          left join jsonb_array_elements(p_checks) as c (item)
            on (c.item ->> 'text')::integer = o.place
         cross join lateral (
                select c.item -> 'lost' = '[]'
                       and btrim(lower(c.item ->> 'added' collate "C"), ' ."-')
                           in ('', 'none', 'nothing', 'null')) as v (is_supported));
end;
$function$;

comment on function recall._verified_merges(jsonb, jsonb) is
    'State of a merge job with the checked texts accepted or refused.';
