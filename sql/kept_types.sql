-- Put the types that upgrade.sql has kept in the place of those of this release.
-- A view on a function depends on the type of its result. A changed type is refused: PostgreSQL
-- 18.6 crashes on a view with a row of a function whose type has got an attribute.
do $kept_types$
declare
    v_type record;
begin
    for v_type in
        select k.oid as kept, k.typrelid as kept_class, n.typrelid as wanted_class,
               obj_description(n.oid, 'pg_type') as description
          from pg_catalog.pg_type as k
          left join pg_catalog.pg_type as n
            on n.typnamespace = k.typnamespace and '!' || n.typname = k.typname
         where k.oid = any (current_setting('recall.kept_types')::oid[])
    loop
        if (select array_agg(
                       a.attname || ' ' || translate(format_type(a.atttypid, a.atttypmod), '"!', '')
                       order by a.attnum)
              from pg_catalog.pg_attribute as a
             where a.attrelid = v_type.kept_class)
           is distinct from (
            select array_agg(
                       a.attname || ' ' || translate(format_type(a.atttypid, a.atttypmod), '"!', '')
                       order by a.attnum)
              from pg_catalog.pg_attribute as a
             where a.attrelid = v_type.wanted_class) then
            raise exception using
                errcode = 'RC007',
                message = format('other objects use the type recall.%s, which this release changes',
                                 ltrim((select t.typname from pg_catalog.pg_type as t
                                         where t.oid = v_type.kept), '!')),
                detail  = 'A view on a function also uses the type of its result.',
                hint    = 'Drop the views, functions and columns that use it, upgrade, and create '
                          'them again.';
        end if;

        execute format('comment on type %s is %L', v_type.kept::regtype, v_type.description);
    end loop;

    -- Attributes of a new type may use another new type, so all are dropped in one statement.
    execute coalesce((
        select 'drop type ' || string_agg(n.oid::regtype::text, ', ')
          from pg_catalog.pg_type as k
          join pg_catalog.pg_type as n
            on n.typnamespace = k.typnamespace and '!' || n.typname = k.typname
         where k.oid = any (current_setting('recall.kept_types')::oid[])), 'select');
    for v_type in
        select k.oid::regtype as kept, ltrim(k.typname, '!') as name
          from pg_catalog.pg_type as k
         where k.oid = any (current_setting('recall.kept_types')::oid[])
    loop
        execute format('alter type %s rename to %I', v_type.kept, v_type.name);
    end loop;
end;
$kept_types$;
