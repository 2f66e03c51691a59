-- Record the release with the functions, composite types, triggers and tables that it created, and
-- its migrations. By these names an upgrade and uninstall.sql tell objects of pgrecall from others
-- in the schema.
insert into recall.migrations (version, checksum, objects)
select recall.version(), sha256(convert_to(recall.version(), 'UTF8')),
       array(
           select replace(format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
                           current_setting('recall.vector_prefix'), '')
             from pg_catalog.pg_proc as p
            where p.pronamespace = 'recall'::regnamespace
              and not current_setting('recall.foreign_functions')::jsonb ? p.oid::text
            order by 1)
       || array(
           select t.typname::text
             from pg_catalog.pg_type as t
             join pg_catalog.pg_class as c on c.oid = t.typrelid
            where t.typnamespace = 'recall'::regnamespace
              and c.relkind = 'c'
              and not current_setting('recall.foreign_names')::jsonb ? t.typname::text
            order by 1)
       || array(
           select format('%s on %s', t.tgname, c.relname)
             from pg_catalog.pg_trigger as t
             join pg_catalog.pg_class as c on c.oid = t.tgrelid
             join pg_catalog.pg_proc as p on p.oid = t.tgfoid
            where c.relnamespace = 'recall'::regnamespace
              and t.tgparentid = 0
              and not t.tgisinternal
              and p.pronamespace = 'recall'::regnamespace
              and not current_setting('recall.foreign_names')::jsonb
                      ? format('%s on %s', t.tgname, c.relname)
            order by 1)
       || array(
           select format('table %s', c.relname)
             from pg_catalog.pg_class as c
            where c.relnamespace = 'recall'::regnamespace
              and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
              and not c.relispartition
              and pg_get_userbyid(c.relowner) = current_user
              and not current_setting('recall.foreign_names')::jsonb
                      ? format('table %s', c.relname)
            order by 1)
on conflict (version) do update set objects = excluded.objects;

-- One release has the list, whatever the clock or the order of installations was.
update recall.migrations as m
   set objects = null
 where m.version <> recall.version()
   and m.objects is not null;

insert into recall.migrations (version, checksum)
select split_part(l.line, ' ', 1), decode(split_part(l.line, ' ', 2), 'hex')
  from regexp_split_to_table(current_setting('recall.migrations'), '\n') as l (line)
 where l.line <> ''
on conflict (version) do nothing;
