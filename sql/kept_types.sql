-- Put the types that upgrade.sql has kept in the place of those of this release.
-- A view on a function depends on the type of its result. Such a type can get further attributes
-- at its end, and any other change is refused.
do $kept_types$
declare
    v_type     record;
    v_addition record;
begin
    for v_type in
        select k.oid as kept, k.typrelid as kept_class, n.oid as wanted,
               n.typrelid as wanted_class, n.typname as name,
               obj_description(n.oid, 'pg_type') as description
          from pg_catalog.pg_type as k
          left join pg_catalog.pg_type as n
            on n.typnamespace = k.typnamespace and '!' || n.typname = k.typname
         where k.oid = any (current_setting('recall.kept_types')::oid[])
    loop
        if v_type.wanted is null or exists (
            select
              from pg_catalog.pg_attribute as k
              left join pg_catalog.pg_attribute as w
                on w.attrelid = v_type.wanted_class and w.attnum = k.attnum
             where k.attrelid = v_type.kept_class
               and k.attnum > 0
               and (w.attname is distinct from k.attname
                    or translate(format_type(w.atttypid, w.atttypmod), '"!', '')
                       is distinct from translate(format_type(k.atttypid, k.atttypmod), '"!', ''))
        ) then
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
        for v_addition in
            select w.attname as name, format_type(w.atttypid, w.atttypmod) as type
              from pg_catalog.pg_attribute as w
             where w.attrelid = v_type.wanted_class
               and w.attnum > (
                       select max(k.attnum)
                         from pg_catalog.pg_attribute as k
                        where k.attrelid = v_type.kept_class)
             order by w.attnum
        loop
            execute format('alter type %s add attribute %I %s', v_type.kept::regtype,
                           v_addition.name, v_addition.type);
        end loop;
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
