-- Remove pgrecall and all of its data from this database.
-- Columns, indexes and checks that others have added to its tables go without notice.
-- Objects of others that would go with it stop it, unless recall.uninstall_cascade is on:
--     PGOPTIONS="-c recall.uninstall_cascade=on" psql -d DATABASE -f sql/uninstall.sql
-- The extensions vector and pg_trgm stay. The roles stay, too, since other databases of the cluster
-- may use them. The last message is the statement that drops the roles, with the names used here.
\set ON_ERROR_STOP on
begin isolation level read committed;
set local client_min_messages = warning;
set local search_path to pg_catalog, pg_temp;
do $uninstall$
declare
    v_cascade constant text := coalesce(
        nullif(current_setting('recall.uninstall_cascade', true), ''), 'off');
    v_created text[] := '{}';
    v_suffix  text;
    v_prefix  text := 'recall';
    v_roles   text;
    v_other   text;
    v_foreign text[];
    v_jobs    text[];
    v_table   text;
    v_is_ours boolean;
    v_schemas name[] := array['recall'];
begin
    if lower(v_cascade) not in ('on', 'off', 'true', 'false') then
        raise exception using
            errcode = 'RC007',
            message = format('recall.uninstall_cascade is %L', v_cascade),
            hint    = 'on or off.';
    end if;
    perform set_config('lock_timeout', '5min', true);  -- any login can take the next lock
    perform pg_advisory_xact_lock(hashtextextended('pgrecall.install', 0));

    -- Jobs of pg_cron survive a DROP SCHEMA and would fail permanently. Their names end with
    -- recall._cron_suffix(), a function that may be gone already.
    v_suffix := '@' || case when octet_length(current_database()) <= 29
                            then current_database()::text
                            else left(md5(current_database()), 29) end;
    -- Another role may have made these names. Reading a view, or a column of a type with a cast,
    -- would run that role's code. The lock keeps a table from becoming a view before it is read.
    for v_table in
        select c.oid::regclass
          from pg_catalog.pg_class as c
         where c.relnamespace = to_regnamespace('recall')
           and c.relname in ('settings', 'migrations')
           and c.relkind = 'r'
    loop
        execute format('lock table %s in access share mode', v_table);
    end loop;
    select count(*) = 5
      into v_is_ours
      from pg_catalog.pg_namespace as n
      join pg_catalog.pg_class as c on c.relnamespace = n.oid and c.relowner = n.nspowner
      join pg_catalog.pg_attribute as a on a.attrelid = c.oid
     where n.nspname = 'recall'
       and c.relkind = 'r'
       and not c.relforcerowsecurity
       and (c.relname, a.attname, a.atttypid) in (
               ('settings', 'role_prefix', 'text'::regtype),
               ('settings', 'scheduled_by', 'text'::regtype),
               ('settings', 'scheduled_in', 'oid'::regtype),
               ('settings', 'embedding_dimensions', 'integer'::regtype),
               ('migrations', 'objects', 'text[]'::regtype));
    if v_is_ours then
        execute 'select s.role_prefix, case when d.datname = current_database() '
                'then s.scheduled_by end from recall.settings as s '
                'left join pg_catalog.pg_database as d on d.oid = s.scheduled_in'
           into v_prefix, v_other;
        execute 'select coalesce(max(m.objects), ''{}'') from recall.migrations as m'
           into v_created;
    end if;
    if exists (
        select from pg_catalog.pg_attribute as a
         where a.attrelid = to_regclass('recall_shard.departed_users')
           and a.attname  = 'departed_at'
    ) then
        v_schemas := v_schemas || name 'recall_shard';  -- of a shard behind a proxy
    end if;

    if exists (
        select
          from pg_catalog.pg_extension as e
          join pg_catalog.pg_depend as d
            on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid
         where e.extname = 'pg_cron'
           and d.deptype = 'e'
           and d.classid = 'pg_class'::regclass
           and d.objid   = to_regclass('cron.job')
    ) then
        if has_schema_privilege('cron', 'usage') then
            execute $sql$
                select cron.unschedule(j.jobid)
                  from cron.job as j
                 where starts_with(j.jobname, 'recall_')
                   and right(j.jobname, length($1)) = $1
            $sql$ using v_suffix;
            execute $sql$
                select array_agg(format('pg_cron job %s of %s: %s', j.jobid,
                                        j.job ->> 'username', left(j.job ->> 'command', 80)))
                  from (select to_jsonb(c) as job, c.jobid from cron.job as c) as j
                 where j.job ->> 'database' = current_database()
                   and j.job ->> 'command' ~* '\mrecall"?\s*\.'
            $sql$ into v_jobs;
            v_other := case when row_security_active('cron.job') then v_other end;
        end if;
        -- Row-level security hides jobs of other roles.
        if v_other <> current_user then
            raise warning 'pg_cron jobs of % stay; % or a superuser runs: select '
                          'cron.unschedule(j.jobid) from cron.job as j where j.username = % and '
                          'starts_with(j.jobname, ''recall_'') and right(j.jobname, %) = %;',
                          v_other, v_other, quote_literal(v_other), length(v_suffix),
                          quote_literal(v_suffix);
        end if;
    elsif exists (select from pg_catalog.pg_settings where name = 'cron.database_name') then
        raise warning 'pg_cron lives in another database; if it runs maintenance of this one, run '
                      'there: select cron.unschedule(j.jobid) from cron.job as j where '
                      'starts_with(j.jobname, ''recall_'') and right(j.jobname, %) = %;',
                      length(v_suffix), quote_literal(v_suffix);
    end if;

    -- recall.migrations names what the installation created. Types of arguments lose their schemas,
    -- which depend on the search path.
    with recursive created (name) as materialized (
        select regexp_replace(replace(o.name, '"', ''), '[^ (,]+\.', '', 'g')
          from unnest(v_created) as o (name)
    ), members as materialized (
        select d.classid, d.objid, n.nspowner as owner, n.nspname as schema,
               coalesce((
                   select s.refobjid
                     from pg_catalog.pg_shdepend as s
                    where s.deptype = 'o'
                      and s.dbid    = (select b.oid from pg_catalog.pg_database as b
                                        where b.datname = current_database())
                      and s.classid = d.classid
                      and s.objid   = d.objid), 10) as has_owner
          from pg_catalog.pg_namespace as n
          join pg_catalog.pg_depend as d
            on d.refclassid = 'pg_namespace'::regclass and d.refobjid = n.oid
         where n.nspname = any (v_schemas)
           and d.deptype = 'n'
    ), ours (classid, objid) as (
        select m.classid, m.objid
          from members as m
          left join pg_catalog.pg_proc as p on m.classid = 'pg_proc'::regclass and p.oid = m.objid
          left join pg_catalog.pg_class as c on m.classid = 'pg_class'::regclass and c.oid = m.objid
          left join pg_catalog.pg_type as t on m.classid = 'pg_type'::regclass and t.oid = m.objid
         where m.has_owner = m.owner
           and case
                   when m.schema = 'recall_shard' then coalesce(p.proname, c.relname) in (
                       'departed_users', 'add_rows', 'awaits_walk', 'check_move', 'depart',
                       'drop_rows', 'ensure_months', 'enter', 'find_user', 'finish_backfills',
                       'hold_user', 'move_key', 'open_rows', 'read_columns', 'read_rows',
                       'receive_user', 'remove_copy', 'remove_departed', 'stage_rows', 'state',
                       'user_months', 'user_of', 'user_tables', 'users_in_slots')
                   when not exists (select from created) then v_is_ours
                   when p.oid is not null then exists (
                       select
                         from created as o
                        where o.name = format('%s(%s)', p.proname, regexp_replace(
                                  replace(pg_get_function_identity_arguments(p.oid), '"', ''),
                                  '[^ (,]+\.', '', 'g')))
                   -- _drop_month comments on a month that it only detaches
                   when c.oid is not null then
                       not exists (
                           select from created as o where starts_with(o.name, 'table '))
                       or exists (
                           select from created as o where o.name = 'table ' || c.relname)
                       or c.relkind = 'r'
                          and starts_with(obj_description(c.oid, 'pg_class'),
                                          'Messages past their retention, detached')
                   when t.typtype = 'c' then exists (
                       select from created as o where o.name = t.typname)
                   else t.typtype = 'e'
                        and t.typname in ('session_status', 'message_role', 'memory_tier',
                                          'memory_scope', 'provenance', 'job_state')
               end
         union
        select d.classid, d.objid
          from ours as o
          join pg_catalog.pg_depend as d on d.refclassid = o.classid and d.refobjid = o.objid
          left join pg_catalog.pg_trigger as t
            on d.classid = 'pg_trigger'::regclass and t.oid = d.objid
          left join pg_catalog.pg_class as c on c.oid = t.tgrelid
          left join pg_catalog.pg_policy as p
            on d.classid = 'pg_policy'::regclass and p.oid = d.objid
          left join pg_catalog.pg_class as r on d.classid = 'pg_class'::regclass and r.oid = d.objid
          left join pg_catalog.pg_rewrite as w
            on d.classid = 'pg_rewrite'::regclass and w.oid = d.objid
         where d.deptype in ('a', 'i', 'P', 'S')
           and d.classid not in ('pg_publication_rel'::regclass,
                                 'pg_publication_namespace'::regclass,
                                 'pg_statistic_ext'::regclass)
           and (t.oid is null or t.tgisinternal or t.tgparentid <> 0
                or not exists (select from created)
                or format('%s on %s', t.tgname, c.relname) in (select n.name from created as n))
           and (p.oid is null or p.polname = (select l.relname || '_own_rows'
                                                from pg_catalog.pg_class as l
                                               where l.oid = p.polrelid))
           and (w.oid is null or w.rulename = '_RETURN')
           and (r.oid is null or r.relkind not in ('r', 'p', 'f', 'v', 'm')
                or r.relnamespace in (select n.oid from pg_catalog.pg_namespace as n
                                       where n.nspname = any (v_schemas)))
    ), known as materialized (
        select o.classid, o.objid from ours as o
         union all
        select 'pg_namespace'::regclass, n.oid
          from pg_catalog.pg_namespace as n
         where n.nspname = any (v_schemas)
    ), uses as not materialized (
        -- pg_depend names the rule of a view; the view is what would go.
        select d.refclassid, d.refobjid, d.refobjsubid, d.deptype,
               case when w.oid is null then d.classid else 'pg_class'::regclass::oid end as classid,
               coalesce(w.ev_class, d.objid) as objid,
               case when w.oid is null then d.objsubid else 0 end as objsubid
          from pg_catalog.pg_depend as d
          left join pg_catalog.pg_rewrite as w
            on d.classid = 'pg_rewrite'::regclass and w.oid = d.objid and w.rulename = '_RETURN'
    ), theirs (classid, objid, objsubid) as (
        select s.classid, s.objid, s.objsubid
          from known as k
          join uses as s on s.refclassid = k.classid and s.refobjid = k.objid
         where s.classid <> 'pg_default_acl'::regclass
           and not exists (select from known as o
                            where o.classid = s.classid and o.objid = s.objid)
         union
        select s.classid, s.objid, s.objsubid
          from theirs as t
          join uses as s
            on s.refclassid = t.classid and s.refobjid = t.objid
               and (t.objsubid = 0 or s.refobjsubid = t.objsubid)
         where s.deptype = 'n'
           and (s.classid, s.objid) <> (t.classid, t.objid)
    )
    select array_agg(distinct pg_describe_object(t.classid, t.objid, t.objsubid))
      into v_foreign
      from theirs as t
     where not (t.objsubid > 0 and (t.classid, t.objid, 0) in (select * from theirs))
       and not exists (
               select
                 from pg_catalog.pg_depend as d
                 join theirs as o
                   on o.classid = d.refclassid and o.objid = d.refobjid
                      and o.objsubid in (0, d.refobjsubid)
                where d.classid  = t.classid
                  and d.objid    = t.objid
                  and d.objsubid = t.objsubid
                  and d.deptype in ('a', 'i'));

    v_foreign := v_foreign || v_jobs;
    if cardinality(v_foreign) > 0 and lower(v_cascade) not in ('on', 'true') then
        raise exception using
            errcode = 'RC007',
            message = format('%s objects that are not pgrecall''s would go or fail with it',
                             cardinality(v_foreign)),
            detail  = array_to_string(v_foreign[:50], e'\n')
                      || case when cardinality(v_foreign) > 50
                              then format(e'\nand %s more', cardinality(v_foreign) - 50)
                              else '' end,
            hint    = 'Drop, move or change them first; or let them go: '
                      'set recall.uninstall_cascade = on;';
    end if;

    drop schema if exists recall cascade;
    if 'recall_shard' = any (v_schemas) then
        drop schema recall_shard cascade;
    end if;

    select string_agg(quote_ident(r.rolname), ', ' order by r.rolname)
      into v_roles
      from pg_catalog.pg_roles as r
     where r.rolname in (v_prefix || '_owner', v_prefix || '_writer', v_prefix || '_reader',
                         v_prefix || '_worker', v_prefix || '_admin');
    if v_roles is not null then
        select string_agg(distinct format('revoke all on schema %I from %I; ', n.nspname,
                                          a.grantee::regrole), '')
          into v_other
          from pg_catalog.pg_extension as e
          join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
         cross join aclexplode(n.nspacl) as a
         where e.extname in ('vector', 'pg_trgm')
           and a.grantee = to_regrole(v_prefix || '_owner');
        raise info 'The roles stay. Where no other database uses them: %drop role %;',
                   coalesce(v_other, ''), v_roles;
    end if;
end;
$uninstall$;
commit;
