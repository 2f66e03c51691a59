-- Remove pgrecall and all of its data from this database.
-- The extensions vector and pg_trgm stay. The roles stay, too, since other databases of the cluster
-- may use them. The last message is the statement that drops the roles, with the names used here.
-- If the extensions live in a schema of their own, first run `drop owned by PREFIX_owner;` here.
\set ON_ERROR_STOP on
begin;
set local client_min_messages = warning;
set local search_path to pg_catalog, pg_temp;
do $uninstall$
declare
    v_suffix text;
    v_prefix text := 'recall';
    v_roles  text;
    v_other  text;
begin
    perform set_config('lock_timeout', '5min', true);  -- any login can take the next lock
    perform pg_advisory_xact_lock(hashtextextended('pgrecall.install', 0));

    -- Jobs of pg_cron survive a DROP SCHEMA and would fail permanently. Their names end with
    -- recall._cron_suffix(), a function that may be gone already.
    v_suffix := '@' || case when octet_length(current_database()) <= 29
                            then current_database()::text
                            else left(md5(current_database()), 29) end;
    if exists (
        select from pg_catalog.pg_attribute as a
         where a.attrelid = to_regclass('recall.settings') and a.attname = 'role_prefix'
    ) then
        execute 'select s.role_prefix, case when d.datname = current_database() '
                'then s.scheduled_by end from recall.settings as s '
                'left join pg_catalog.pg_database as d on d.oid = s.scheduled_in'
           into v_prefix, v_other;
    end if;

    if exists (
        select from pg_catalog.pg_class as c
         where c.relnamespace = to_regnamespace('cron') and c.relname = 'job'
    ) then
        if has_schema_privilege('cron', 'usage') then
            execute $sql$
                select cron.unschedule(j.jobid)
                  from cron.job as j
                 where starts_with(j.jobname, 'recall_')
                   and right(j.jobname, length($1)) = $1
            $sql$ using v_suffix;
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

    drop schema if exists recall cascade;
    drop schema if exists recall_shard cascade;  -- of a shard behind a proxy

    select string_agg(quote_ident(r.rolname), ', ' order by r.rolname)
      into v_roles
      from pg_catalog.pg_roles as r
     where r.rolname in (v_prefix || '_owner', v_prefix || '_writer', v_prefix || '_reader',
                         v_prefix || '_worker', v_prefix || '_admin');
    if v_roles is not null then
        raise info 'The roles stay. Where no other database uses them: drop role %;', v_roles;
    end if;
end;
$uninstall$;
commit;
