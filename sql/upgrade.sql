-- Drop the functions of the installed release; this release creates its own.
-- So a changed result needs no step, and a migration may alter a table whose row type they use.
-- recall.migrations lists what a release has created, so functions and types of others stay. A
-- function that another object depends on, such as a trigger or a view, is replaced in place.
-- Composite types get other names until kept_types.sql compares them with those of this release.
-- Settings carry what later files need: kept functions and triggers, and grants to foreign roles.
do $upgrade$
declare
    v_is_upgrade constant boolean := to_regclass('recall.migrations') is not null;
    v_prefix     constant text    := current_setting('recall.role_prefix');
    v_created    text[];
    v_functions  oid[];
    v_types      oid[];
    v_kept       oid[];
    v_used_types oid[];
    v_name       name;
    v_names      text;
begin
    perform set_config('recall.is_upgrade', v_is_upgrade::text, true),
            set_config('recall.foreign_functions', '{}', true),
            set_config('recall.foreign_names', '[]', true),
            set_config('recall.kept_functions', '{}', true),
            set_config('recall.kept_types', '{}', true),
            set_config('recall.used_types', '{}', true),
            set_config('recall.kept_triggers', '{}', true),
            set_config('recall.foreign_grants', '[]', true);
    if not v_is_upgrade then
        return;
    end if;
    -- A development version before release 0.1.0 has recorded nothing. All objects of its owner
    -- count as pgrecall's. Remove this with that release.
    if not exists (
        select
          from pg_catalog.pg_attribute as a
         where a.attrelid = 'recall.migrations'::regclass
           and a.attname  = 'objects'
           and not a.attisdropped
    ) then
        alter table recall.migrations add column objects text[];
        execute 'update recall.migrations as m set objects = $1' using array(
            select replace(format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
                           current_setting('recall.vector_prefix'), '')
              from pg_catalog.pg_proc as p
             where p.pronamespace = 'recall'::regnamespace
               and pg_get_userbyid(p.proowner) = current_user
             union all
            select t.typname::text
              from pg_catalog.pg_type as t
              join pg_catalog.pg_class as c on c.oid = t.typrelid
             where t.typnamespace = 'recall'::regnamespace
               and c.relkind = 'c'
               and pg_get_userbyid(t.typowner) = current_user
             union all
            select format('%s on %s', t.tgname, c.relname)
              from pg_catalog.pg_trigger as t
              join pg_catalog.pg_class as c on c.oid = t.tgrelid
              join pg_catalog.pg_proc as p on p.oid = t.tgfoid
             where c.relnamespace = 'recall'::regnamespace
               and p.pronamespace = 'recall'::regnamespace
               and pg_get_userbyid(p.proowner) = current_user
               and t.tgparentid = 0
               and not t.tgisinternal);
    end if;

    execute 'select m.objects from recall.migrations as m where m.objects is not null'
       into v_created;
    if v_created is null then
        raise exception using
            errcode = 'RC007',
            message = 'recall.migrations is empty, so the release of this schema is unknown',
            hint    = 'Restore the data of that table with the schema; or drop an empty schema '
                      '(sql/uninstall.sql), and install.';
    end if;
    select coalesce(array_agg(p.oid) filter (where f.is_ours), '{}')
      into v_functions
      from pg_catalog.pg_proc as p
     cross join lateral (
            select replace(format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
                           current_setting('recall.vector_prefix'), '')
                   = any (v_created) as is_ours
           ) as f
     where p.pronamespace = 'recall'::regnamespace;
    select coalesce(array_agg(t.oid), '{}')
      into v_types
      from pg_catalog.pg_type as t
      join pg_catalog.pg_class as c on c.oid = t.typrelid
     where t.typnamespace = 'recall'::regnamespace
       and c.relkind = 'c'
       and t.typname = any (v_created);

    -- A kept function needs the functions that its body is bound to.
    with recursive kept (oid) as (
        select d.refobjid
          from pg_catalog.pg_depend as d
         where d.refclassid = 'pg_proc'::regclass
           and d.refobjid   = any (v_functions)
           and not (d.classid = 'pg_proc'::regclass and d.objid = any (v_functions))
         union
        select d.refobjid
          from kept as k
          join pg_catalog.pg_depend as d on d.classid = 'pg_proc'::regclass and d.objid = k.oid
         where d.refclassid = 'pg_proc'::regclass
           and d.refobjid   = any (v_functions)
    )
    select coalesce(array_agg(k.oid), '{}') into v_kept from kept as k;

    -- A kept function or an object of others uses these types, and the types of their attributes.
    with recursive types (oid, used) as (
        select t.oid, u.oid
          from pg_catalog.pg_type as t
         cross join lateral (values (t.oid), (t.typarray), (t.typrelid)) as u (oid)
         where t.oid = any (v_types)
    ), kept (oid) as (
        select t.oid
          from types as t
          join pg_catalog.pg_depend as d on d.refobjid = t.used
         where d.refclassid in ('pg_type'::regclass, 'pg_class'::regclass)
           and not (d.classid = 'pg_proc'::regclass
                    and d.objid = any (v_functions) and d.objid <> all (v_kept))
           and not (d.classid in ('pg_type'::regclass, 'pg_class'::regclass)
                    and d.objid in (select s.used from types as s))
         union
        select t.oid
          from kept as k
          join pg_catalog.pg_type as y on y.oid = k.oid
          join pg_catalog.pg_depend as d
            on d.classid = 'pg_class'::regclass and d.objid = y.typrelid
           and d.refclassid = 'pg_type'::regclass
          join types as t on t.used = d.refobjid
    )
    select coalesce(array_agg(k.oid), '{}') into v_used_types from kept as k;

    -- A row that `create or replace` writes gets another ctid, so obsolete.sql finds the others.
    perform set_config('recall.kept_functions', coalesce((
                select jsonb_object_agg(p.oid, p.ctid)
                  from pg_catalog.pg_proc as p
                 where p.oid = any (v_kept)), '{}')::text, true),
            set_config('recall.kept_triggers', coalesce((
                select jsonb_object_agg(t.oid, t.ctid)
                  from pg_catalog.pg_trigger as t
                  join pg_catalog.pg_class as c on c.oid = t.tgrelid
                 where c.relnamespace = 'recall'::regnamespace
                   and format('%s on %s', t.tgname, c.relname) = any (v_created)), '{}')::text,
                       true),
            set_config('recall.foreign_names', coalesce((
                select jsonb_agg(f.name)
                  from (
                        select t.typname::text as name
                          from pg_catalog.pg_type as t
                          join pg_catalog.pg_class as c on c.oid = t.typrelid
                         where t.typnamespace = 'recall'::regnamespace
                           and c.relkind = 'c'
                         union all
                        select format('%s on %s', t.tgname, c.relname)
                          from pg_catalog.pg_trigger as t
                          join pg_catalog.pg_class as c on c.oid = t.tgrelid
                         where c.relnamespace = 'recall'::regnamespace
                         union all
                        -- releases before 0.2.0 have not recorded tables
                        select format('table %s', c.relname)
                          from pg_catalog.pg_class as c
                         where c.relnamespace = 'recall'::regnamespace
                           and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
                           and not c.relispartition
                           and exists (
                                   select from unnest(v_created) as o (name)
                                    where starts_with(o.name, 'table '))
                       ) as f
                 where f.name <> all (v_created)), '[]')::text, true),
            set_config('recall.foreign_functions', coalesce((
                select jsonb_object_agg(p.oid, p.ctid)
                  from pg_catalog.pg_proc as p
                 where p.pronamespace = 'recall'::regnamespace
                   and p.oid <> all (v_functions)), '{}')::text, true),
            set_config('recall.foreign_grants', coalesce((
                select jsonb_agg(jsonb_build_array(p.proname, a.grantee::regrole, a.is_grantable))
                  from pg_catalog.pg_proc as p
                 cross join aclexplode(p.proacl) as a
                 where p.oid = any (v_functions)
                   and p.oid <> all (v_kept)
                   and a.grantee not in (0, p.proowner)
                   and pg_get_userbyid(a.grantee)
                       <> all (array[v_prefix || '_writer', v_prefix || '_reader',
                                     v_prefix || '_worker', v_prefix || '_admin'])),
                '[]')::text, true);

    select string_agg(f.oid::regprocedure::text, ', ')
      into v_names
      from unnest(v_functions) as f (oid)
     where f.oid <> all (v_kept);
    execute 'drop routine ' || v_names;
    perform set_config('recall.kept_types', v_types::text, true),
            set_config('recall.used_types', v_used_types::text, true);
    for v_name in
        select t.typname from pg_catalog.pg_type as t where t.oid = any (v_types)
    loop
        execute format('alter type recall.%I rename to %I', v_name, '!' || v_name);
    end loop;
end;
$upgrade$;
