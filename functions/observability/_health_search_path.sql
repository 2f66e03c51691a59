-- Report search_path: whether the functions find objects of pg_catalog and of their owner only.
-- PostgreSQL may prefer a function that somebody else creates there, and runs it with the rights of
-- the owner.
create or replace function recall._health_search_path()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    with creator as (
        select case when a.grantee = 0 then 'PUBLIC'
                    else quote_ident(pg_get_userbyid(a.grantee)) end as role
          from pg_catalog.pg_namespace as n
         cross join aclexplode(n.nspacl) as a
         where n.nspname = 'recall'
           and a.privilege_type = 'CREATE'
           and a.grantee <> n.nspowner
    ), strange as (
        select p.oid::regprocedure::text as name
          from pg_catalog.pg_proc as p
          join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
         cross join unnest(p.proconfig) as c (setting)
         where n.nspname = 'recall'
           and p.proowner = n.nspowner
           and c.setting ^@ 'search_path='
           and c.setting <> 'search_path=pg_catalog, recall, pg_temp'
    )
    select 'search_path', case when c.roles is null and s.names is null then 'ok' else 'fail' end,
           coalesce(
               nullif(concat_ws('; ', c.roles || ' may create objects in schema recall, and so '
                                      'become its owner',
                                'another search path is set for ' || s.names), ''),
               'the functions search only pg_catalog and recall, where nobody else may create'),
           case when c.roles is not null
                then format('Its owner runs: revoke create on schema recall from %s;', c.roles)
                when s.names is not null then 'Run the installer again.' end
      from (select string_agg(distinct r.role, ', ') from creator as r) as c (roles)
     cross join (select string_agg(t.name, ', ' order by t.name) from strange as t) as s (names);
end;
$function$;

comment on function recall._health_search_path() is
    'Health of the search path of the functions: who may create objects there.';
