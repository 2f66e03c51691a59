-- List the other databases that use roles of this prefix.
-- A database uses a role when an object of it belongs to the role, or a grant or a policy names it.
-- Every role may read pg_shdepend.
create or replace function recall._databases_sharing_roles(
    p_prefix text
)
returns text[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_roles oid[];
begin
    select array_agg(r.oid)
      into v_roles
      from pg_catalog.pg_roles as r
     where r.rolname in (p_prefix || '_owner', p_prefix || '_reader', p_prefix || '_writer',
                         p_prefix || '_worker', p_prefix || '_admin');

    return (
        select array_agg(d.datname::text order by d.datname)
          from pg_catalog.pg_database as d
         where d.datname <> current_database()
           and d.oid in (
                   select case when s.dbid = 0 then s.objid else s.dbid end
                     from pg_catalog.pg_shdepend as s
                    where s.refclassid = 'pg_catalog.pg_authid'::regclass
                      and s.refobjid = any (v_roles)
                      and (s.dbid <> 0 or s.classid = 'pg_catalog.pg_database'::regclass)));
end;
$function$;

comment on function recall._databases_sharing_roles(text) is
    'Other databases of the cluster that use the roles of a prefix; NULL when there are none.';
