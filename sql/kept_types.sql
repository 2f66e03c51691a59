-- Keep the composite types of the installed release that this release creates alike.
-- Connections have cached their OIDs: a call after the upgrade would fail. upgrade.sql has renamed
-- them. A changed type that others use is refused: PostgreSQL 18.6 crashes on a view with a row of
-- a function whose type has got an attribute.
do $kept_types$
declare
    v_kept    constant oid[] := current_setting('recall.kept_types')::oid[];
    v_changed oid[];
    v_names   text;
    v_type    record;
begin
    -- Types that contain one another stay or go together.
    with recursive pair as (
        select k.oid as kept, k.typrelid as kept_class, n.oid as wanted, n.typrelid as wanted_class
          from pg_catalog.pg_type as k
          left join pg_catalog.pg_type as n
            on n.typnamespace = k.typnamespace and '!' || n.typname = k.typname
         where k.oid = any (v_kept)
    ), attribute as (
        select a.attrelid, coalesce(nullif(t.typelem, 0), t.oid) as type,
               a.attname || ' ' || translate(format_type(a.atttypid, a.atttypmod), '"!', '')
                   as text,
               a.attnum
          from pg_catalog.pg_attribute as a
          join pg_catalog.pg_class as c on c.oid = a.attrelid
          join pg_catalog.pg_type as t on t.oid = a.atttypid
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind = 'c'
    ), link as (
        select p.kept as one, q.kept as other
          from attribute as a
          join pair as q on a.type in (q.kept, q.wanted)
          left join pair as p on a.attrelid in (p.kept_class, p.wanted_class)
    ), changed (kept) as (
        select p.kept
          from pair as p
         where array(select a.text from attribute as a
                      where a.attrelid = p.kept_class order by a.attnum)
               <> array(select a.text from attribute as a
                         where a.attrelid = p.wanted_class order by a.attnum)
            or p.wanted is null
            -- a type that is new contains it
            or exists (select from link as l where l.one is null and l.other = p.kept)
         union
        select case when l.one = c.kept then l.other else l.one end
          from changed as c
          join link as l on c.kept in (l.one, l.other)
         where l.one is not null
    )
    select coalesce(array_agg(c.kept), '{}') into v_changed from changed as c;

    select ltrim(min(t.typname), '!')
      into v_names
      from pg_catalog.pg_type as t
     where t.oid = any (v_changed)
       and t.oid = any (current_setting('recall.used_types')::oid[]);
    if v_names is not null then
        raise exception using
            errcode = 'RC007',
            message = format('other objects use the type recall.%s, which this release changes',
                             v_names),
            detail  = 'A view on a function also uses the type of its result.',
            hint    = 'Drop the views, functions and columns that use it, upgrade, and create '
                      'them again.';
    end if;

    for v_type in
        select k.oid::regtype as kept, n.oid::regtype as wanted, ltrim(k.typname, '!') as name,
               obj_description(n.oid, 'pg_type') as description,
               k.oid = any (v_changed) as is_changed
          from pg_catalog.pg_type as k
          left join pg_catalog.pg_type as n
            on n.typnamespace = k.typnamespace and '!' || n.typname = k.typname
         where k.oid = any (v_kept)
    loop
        if not v_type.is_changed then
            execute format('comment on type %s is %L', v_type.kept, v_type.description);
        end if;
    end loop;

    -- Attributes of a type may use another one, so all are dropped in one statement.
    select string_agg(case when k.oid = any (v_changed) then k.oid else n.oid end::regtype::text,
                      ', ')
      into v_names
      from pg_catalog.pg_type as k
      left join pg_catalog.pg_type as n
        on n.typnamespace = k.typnamespace and '!' || n.typname = k.typname
     where k.oid = any (v_kept);
    execute coalesce('drop type ' || v_names, 'select');
    for v_type in
        select k.oid::regtype as kept, ltrim(k.typname, '!') as name
          from pg_catalog.pg_type as k
         where k.oid = any (v_kept)
    loop
        execute format('alter type %s rename to %I', v_type.kept, v_type.name);
    end loop;
end;
$kept_types$;
