-- recall._health_installation() -> version, owner, roles, search_path
create or replace function recall._health_installation()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_owner    name;
    v_is_super boolean;
    v_count    bigint;
begin
    return query
    select 'version', 'ok', format('pgrecall %s on PostgreSQL %s', recall.version(),
                                   current_setting('server_version')), null::text;

    select r.rolname, r.rolsuper
      into v_owner, v_is_super
      from pg_catalog.pg_namespace as n
      join pg_catalog.pg_roles as r on r.oid = n.nspowner
     where n.nspname = 'recall';
    return query
    select 'owner', case when v_is_super or v_owner <> 'recall_owner' then 'warn' else 'ok' end,
           format('schema recall belongs to %s%s', v_owner,
                  case when v_is_super then ', a superuser' else '' end),
           case when v_is_super or v_owner <> 'recall_owner'
                then 'Install as a role with CREATEROLE, so that recall_owner owns the schema.' end;

    select count(*)
      into v_count
      from pg_catalog.pg_roles as r
     where r.rolname in ('recall_writer', 'recall_reader', 'recall_worker', 'recall_admin');
    return query
    select 'roles', case when v_count = 4 then 'ok' else 'warn' end,
           format('%s of 4 application roles exist', v_count),
           case when v_count < 4
                then 'A role with CREATEROLE runs the installer again.' end;

    return query
    select 'search_path', case when count(*) > 0 then 'warn' else 'ok' end,
           case when count(*) > 0
                then format('anybody may create in schema %s, which the functions search',
                            string_agg(quote_ident(n.nspname), ', '))
                else 'nobody else may create in the schemas that the functions search' end,
           case when count(*) > 0
                then format('Its owner runs: revoke create on schema %s from public;',
                            string_agg(quote_ident(n.nspname), ', ')) end
      from pg_catalog.pg_namespace as n
     where n.oid = any (current_schemas(false)::regnamespace[])
       and exists (
               select
                 from aclexplode(n.nspacl) as a
                where a.grantee = 0 and a.privilege_type = 'CREATE');
end;
$function$;

comment on function recall._health_installation() is
    'Health of the installation: version, owner, roles, search path.';
