-- Report version, owner, roles, shared_roles and language.
-- PostgreSQL allows dropping a text search configuration that a setting names, so language is
-- checked.
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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_owner    name;
    v_is_super boolean;
    v_count    bigint;
    v_prefix   text;
    v_share    boolean;
    v_chosen   text;
    v_is_well  boolean;
    v_others   text[];
begin
    return query
    select 'version', 'ok', format('pgrecall %s on PostgreSQL %s', recall.version(),
                                   current_setting('server_version')), null::text;

    select s.role_prefix, s.share_roles, s.owner
      into v_prefix, v_share, v_chosen
      from recall.settings as s;
    select r.rolname, r.rolsuper
      into v_owner, v_is_super
      from pg_catalog.pg_namespace as n
      join pg_catalog.pg_roles as r on r.oid = n.nspowner
     where n.nspname = 'recall';
    v_is_well := not v_is_super
                 and v_owner in (v_prefix || '_owner', coalesce(v_chosen, ''));
    return query
    select 'owner', case when v_is_well then 'ok' else 'warn' end,
           format('schema recall belongs to %s%s', v_owner,
                  case when v_is_super then ', a superuser'
                       when v_is_well and v_owner <> v_prefix || '_owner' then ', as chosen'
                       else '' end),
           case when not v_is_well
                then format('A role with CREATEROLE that may act as %1$I installs again with '
                            'recall.owner = %2$L (pgrecall install --owner %2$s).%3$s',
                            v_owner, v_prefix || '_owner',
                            case when not v_is_super
                                 then format(' If %1$I is meant to be the owner, tell the '
                                             'installer so: recall.owner = %2$L.',
                                             v_owner, v_owner) end) end;

    select count(*)
      into v_count
      from pg_catalog.pg_roles as r
     where r.rolname in (v_prefix || '_writer', v_prefix || '_reader', v_prefix || '_worker',
                         v_prefix || '_admin');
    return query
    select 'roles', case when v_count = 4 then 'ok' else 'warn' end,
           format('%s of 4 application roles exist (%s_*)', v_count, v_prefix),
           case when v_count < 4
                then 'A role with CREATEROLE runs the installer again.' end;

    v_others := recall._databases_sharing_roles(v_prefix);
    return query
    select 'shared_roles', case when v_others is null or v_share then 'ok' else 'warn' end,
           case when v_others is null then 'no other database uses the roles'
                else format('%s other databases use the roles, whose members have the same '
                            'rights in each: %s%s', cardinality(v_others),
                            array_to_string(v_others[:5], ', '),
                            case when cardinality(v_others) > 5 then ', …' else '' end) end,
           case when v_others is not null and not v_share
                then 'Install again with roles of this database''s own: '
                     'set recall.role_prefix = ''…''; or accept it: set recall.share_roles = on;'
                end;

    return query
    select 'language', case when l.is_valid then 'ok' else 'fail' end,
           case when not l.is_valid
                then format('text search configuration %s is dropped: writes and searches fail',
                            s.language)
                else format('texts are searched as %s', s.language) end,
           case when not l.is_valid
                then 'Create it again and run: select recall.configure(''{"language": "…"}''), '
                     'with its name or that of another.' end
      from recall.settings as s
     cross join lateral (
            select pg_input_is_valid(s.language, 'regconfig')
                   and s.language !~ '^\d+$' as is_valid -- a number is an OID, valid or not
           ) as l;
end;
$function$;

comment on function recall._health_installation() is
    'Health of the installation: version, owner, roles and databases sharing them, language.';
