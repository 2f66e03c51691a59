-- Report row_security, public and grants.
-- A table grant shows no row. But its holder can truncate the table, or add a trigger that runs as
-- the owner.
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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_reader constant text := (select s.role_prefix || '_reader' from recall.settings as s);
begin
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

    return query
    with granted as (
        select distinct case when a.grantee = 0 then 'PUBLIC'
                             else pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee))
                        end as role
          from pg_catalog.pg_class as c
         cross join lateral aclexplode(c.relacl) as a
         where c.relnamespace = 'recall'::regnamespace
           and a.grantee <> c.relowner
           and not (a.privilege_type = 'SELECT'
                    and a.grantee = coalesce(to_regrole(quote_ident(v_reader)), 0::oid::regrole)
                    and not c.relispartition)
    ), foreign_trigger as (
        select format('%I on %s', t.tgname, t.tgrelid::regclass) as name
          from pg_catalog.pg_trigger as t
          join pg_catalog.pg_class as c on c.oid = t.tgrelid
          join pg_catalog.pg_proc as p on p.oid = t.tgfoid
         where c.relnamespace = 'recall'::regnamespace
           and p.pronamespace <> 'recall'::regnamespace
           and not t.tgisinternal
    )
    select 'grants', case when g.roles is null and f.triggers is null then 'ok' else 'fail' end,
           coalesce(
               nullif(concat_ws('; ', 'rights on tables were granted to ' || g.roles,
                                'triggers that are not ours: ' || f.triggers), ''),
               format('nobody was granted a right on a table, but %s its own rows', v_reader)),
           case
               when g.roles is not null
                   then format('Applications need functions only: revoke all on all tables in '
                               'schema recall from %s;', g.roles)
               when f.triggers is not null then 'Look at what they do, and drop them.'
           end
      from (select string_agg(r.role, ', ' order by r.role) from granted as r) as g (roles)
     cross join (select string_agg(t.name, ', ' order by t.name) from foreign_trigger as t)
                as f (triggers);
end;
$function$;

comment on function recall._health_security() is
    'Health of user isolation: row-level security, privileges of PUBLIC and on tables.';
