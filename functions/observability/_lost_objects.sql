-- Name functions, composite types and triggers that the installer created and somebody has dropped.
-- DROP … CASCADE takes them along, and a call that needs one fails. It names five of them, and
-- returns NULL when none is missing. recall.migrations has all names.
create or replace function recall._lost_objects()
returns text
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- The installer records signatures without the schema of vector, see sql/record.sql.
    v_prefix constant text := coalesce((
        select e.extnamespace::regnamespace || '.'
          from pg_catalog.pg_extension as e
         where e.extname = 'vector'), '');
    v_names  text[];
begin
    v_names := array(
        select o.name
          from recall.migrations as m
         cross join unnest(m.objects) as o (name)
         where not starts_with(o.name, 'table ')
        except
        select replace(format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
                       v_prefix, '')
          from pg_catalog.pg_proc as p
         where p.pronamespace = 'recall'::regnamespace
        except
        select t.typname
          from pg_catalog.pg_type as t
         where t.typnamespace = 'recall'::regnamespace
        except
        select format('%s on %s', t.tgname, c.relname)
          from pg_catalog.pg_trigger as t
          join pg_catalog.pg_class as c on c.oid = t.tgrelid
         where c.relnamespace = 'recall'::regnamespace
        order by 1);
    return nullif(array_to_string(v_names[:5], ', ')
                  || case when cardinality(v_names) > 5
                          then format(' and %s more', cardinality(v_names) - 5) else '' end, '');
end;
$function$;

comment on function recall._lost_objects() is
    'Functions, composite types and triggers of the installer that are missing; NULL for none.';
