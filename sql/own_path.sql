-- Take the schemas of the extensions off the search path again, and check what was bound there.
-- Defaults, checks, generated columns, indexes and SQL bodies keep the functions, operators and
-- types that they found when they were defined. Those outside our schema must be members of the
-- extensions, and belong to a superuser: the owner of an extension may add objects of their own.
-- Raises  RC007 a definition uses an object of somebody else.
do $own_path$
declare
    v_user text;
    v_used text;
begin
    perform pg_catalog.set_config('search_path', 'pg_catalog, recall, pg_temp', true);

    with ours (class, oid) as (
        select 'pg_proc'::regclass, p.oid
          from pg_catalog.pg_proc as p
         where p.pronamespace = 'recall'::regnamespace
           and not current_setting('recall.foreign_functions')::jsonb ? p.oid::text
         union all
        select u.class, u.oid
          from pg_catalog.pg_class as c
          left join pg_catalog.pg_constraint as k on k.conrelid = c.oid
          left join pg_catalog.pg_attrdef as a on a.adrelid = c.oid
         cross join lateral (
                values ('pg_class'::regclass, c.oid), ('pg_constraint', k.oid),
                       ('pg_attrdef', a.oid)
               ) as u (class, oid)
         where c.relnamespace = 'recall'::regnamespace
           and pg_get_userbyid(c.relowner) = current_user
    )
    select pg_describe_object(o.class, o.oid, 0),
           pg_describe_object(d.refclassid, d.refobjid, 0)
      into v_user, v_used
      from ours as o
      join pg_catalog.pg_depend as d on d.classid = o.class and d.objid = o.oid
     cross join lateral (
            select p.pronamespace, p.proowner
              from pg_catalog.pg_proc as p
             where d.refclassid = 'pg_proc'::regclass and p.oid = d.refobjid
             union all
            select p.oprnamespace, p.oprowner
              from pg_catalog.pg_operator as p
             where d.refclassid = 'pg_operator'::regclass and p.oid = d.refobjid
             union all
            select t.typnamespace, t.typowner
              from pg_catalog.pg_type as t
             where d.refclassid = 'pg_type'::regclass and t.oid = d.refobjid
           ) as u (schema, owner)
      join pg_catalog.pg_roles as r on r.oid = u.owner
      -- an array type belongs to the extension of its elements
      left join pg_catalog.pg_type as t
        on d.refclassid = 'pg_type'::regclass and t.oid = d.refobjid and t.typcategory = 'A'
     where u.schema not in ('pg_catalog'::regnamespace, 'recall'::regnamespace)
       and not ((r.rolsuper or r.rolname = current_user) and exists (
               select
                 from pg_catalog.pg_depend as m
                 join pg_catalog.pg_extension as e on e.oid = m.refobjid
                where m.classid    = d.refclassid
                  and m.objid      = coalesce(t.typelem, d.refobjid)
                  and m.refclassid = 'pg_extension'::regclass
                  and m.deptype    = 'e'
                  and e.extname in ('vector', 'pg_trgm')))
     limit 1;
    if found then
        raise exception using
            errcode = 'RC007',
            message = format('%s would use %s, which is not pgrecall''s', v_user, v_used),
            hint    = 'Drop it or move it to a schema without an extension that pgrecall uses.';
    end if;
end;
$own_path$;
