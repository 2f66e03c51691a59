-- recall._health_security() -> extensions, row_security, public
create or replace function recall._health_security()
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
begin
    return query
    select 'extensions', case when count(*) filter (where x.is_old) > 0 then 'warn' else 'ok' end,
           string_agg(format('%s %s', x.extname, x.extversion), ', ' order by x.extname),
           string_agg(format('alter extension %I update;', x.extname), ' ' order by x.extname)
               filter (where x.is_old)
      from (
            select e.extname, e.extversion, e.extversion <> a.default_version as is_old
              from pg_catalog.pg_extension as e
              join pg_catalog.pg_available_extensions as a on a.name = e.extname
             where e.extname in ('vector', 'pg_trgm', 'pg_cron', 'pg_stat_statements')
           ) as x;

    return query
    select 'row_security', case when count(*) > 0 then 'fail' else 'ok' end,
           case when count(*) > 0
                then format('row-level security is off on %s',
                            string_agg(format('recall.%I', c.relname), ', ' order by c.relname))
                else 'row-level security is on for every table' end,
           case when count(*) > 0
                then 'Run the installer again, or: '
                     || string_agg(format('alter table recall.%I enable row level security;',
                                          c.relname), ' ' order by c.relname) end
      from pg_catalog.pg_class as c
     where c.relnamespace = 'recall'::regnamespace
       and c.relkind in ('r', 'p')
       and not c.relrowsecurity;

    return query
    select 'public', case when count(*) > 0 then 'fail' else 'ok' end,
           case when count(*) > 0
                then format('anybody may execute %s',
                            string_agg(format('recall.%s', p.oid::regprocedure), ', '
                                       order by p.proname))
                else 'PUBLIC may execute no function' end,
           case when count(*) > 0
                then 'Run the installer again, or: revoke all on all routines in schema recall '
                     'from public;' end
      from pg_catalog.pg_proc as p
     where p.pronamespace = 'recall'::regnamespace
       and exists (
               select
                 from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
                where a.grantee = 0);
end;
$function$;

comment on function recall._health_security() is
    'Health of what keeps users apart: extensions, row-level security, rights of PUBLIC.';
