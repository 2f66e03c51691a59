-- Return the bound of the intervals among overrides that release 0.1.0 took and that overflow.
-- The columns of the constraint settings_intervals_check may be infinite. Lifetimes of rows may
-- not: a driver cannot read an infinite time.
create or replace function recall._bounded_intervals(
    p_overrides jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return (
        select coalesce(jsonb_object_agg(a.attname, '1000 years'), '{}')
          from pg_catalog.pg_constraint as c
          join pg_catalog.pg_attribute as a
            on a.attrelid = c.conrelid
           and a.attnum   = any (c.conkey)
         cross join lateral (
                select case when pg_input_is_valid(p_overrides ->> a.attname::text, 'interval')
                            then (p_overrides ->> a.attname::text)::interval end
               ) as o (override)
         cross join lateral (
                select a.attname = any (
                           '{session_memory_grace,episode_lifetime,verbatim_lifetime,working_ttl,'
                           'decay_lifetime}'::text[]) as is_lifetime
               ) as l
         where c.conrelid = 'recall.settings'::regclass
           and (c.conname = 'settings_intervals_check' or l.is_lifetime)
           and o.override > interval '1000 years'
           and (o.override < interval 'infinity' or l.is_lifetime));
end;
$function$;

comment on function recall._bounded_intervals(jsonb) is
    'The bound, 1000 years, of each longer interval among overrides.';
