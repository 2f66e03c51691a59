-- Check the preconditions of an installation, and name who can fix a failure.
-- Then lock the database against other installers, and set the search path of the installation. It
-- does not hold the schemas of the extensions: others may create objects there. Without the
-- transaction of transaction.sql, the types below are looked up on the caller's path.
do $preflight$
declare
    v_lock   constant bigint := pg_catalog.hashtextextended('pgrecall.install', 0);
    v_until  pg_catalog.timestamptz;
    v_holder pg_catalog.text;
    v_pid    integer;
    v_ext    pg_catalog.text;
    v_needed pg_catalog.text;
    v_have   pg_catalog.text;
    v_schema pg_catalog.name;
begin
    -- From here on the installer calls no function of a foreign schema.
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    if pg_catalog.pg_is_in_recovery() then
        raise exception using
            errcode = 'RC007',
            message = 'pgrecall cannot be installed on a standby',
            hint    = 'Connect to the primary.';
    end if;
    if pg_catalog.current_setting('transaction_read_only')::boolean then
        raise exception using
            errcode = 'RC007',
            message = 'pgrecall cannot be installed in a read-only transaction',
            hint    = 'set default_transaction_read_only = off;';
    end if;

    if current_setting('recall.installation_began') <> format('%s', now()) then
        raise exception using
            errcode = 'RC007',
            message = 'pgrecall is installed in one transaction, and these statements run each in '
                      'their own',
            hint    = 'psql: add -1. A migration tool: switch its transaction on for this file.';
    end if;

    -- After waiting for another installer, this one must see its commits.
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using
            errcode = 'RC007',
            message = format('pgrecall cannot be installed at isolation level %s',
                                        current_setting('transaction_isolation')),
            hint    = 'Begin the transaction with: begin isolation level read committed;';
    end if;

    if current_setting('server_version_num')::int < 170000 then
        raise exception using
            errcode = 'RC007',
            message = format('pgrecall needs PostgreSQL 17 or later, this is %s',
                             current_setting('server_version')),
            hint    = 'Upgrade the server.';
    end if;

    if pg_catalog.getdatabaseencoding() <> 'UTF8' then
        raise exception using
            errcode = 'RC007',
            message = format('pgrecall needs a UTF8 database, this one is %s',
                             pg_catalog.getdatabaseencoding()),
            hint    = 'create database … encoding ''UTF8'' template template0;';
    end if;

    -- Installers in other databases of this cluster do not wait here, but at the roles.
    -- Any login can take an advisory lock, so the wait is bounded and the error names its holder.
    v_until := clock_timestamp() + coalesce(
        nullif(current_setting('lock_timeout')::interval, '0'), '5 minutes');
    while not pg_try_advisory_xact_lock(v_lock) loop
        if clock_timestamp() > v_until then
            select format('process %s of role %I', a.pid, a.usename), a.pid
              into v_holder, v_pid
              from pg_catalog.pg_locks as l
              join pg_catalog.pg_stat_activity as a on a.pid = l.pid
             where l.locktype = 'advisory'
               and l.granted
               and a.datname = current_database()
               and l.classid = (v_lock >> 32 & 4294967295)::oid
               and l.objid   = (v_lock & 4294967295)::oid
             limit 1;
            raise exception using
                errcode = 'RC007',
                message = format('%s holds the lock of the installer',
                                 coalesce(v_holder, 'another process')),
                hint    = format('Wait for it, or end it: select pg_terminate_backend(%s);',
                                 coalesce(v_pid::text, '…'));
        end if;
        perform pg_sleep(0.05 + random() / 10);
    end loop;

    -- A schema of somebody else, such as one with the installer's name, could be dropped with them.
    v_schema := coalesce((
        select n.nspname
          from pg_catalog.pg_namespace as n
          join pg_catalog.pg_roles as r on r.oid = n.nspowner
         where n.nspname = current_setting('recall.home')
           and (r.rolsuper or r.rolname in (current_user, 'pg_database_owner'))), 'public');
    foreach v_ext in array array['vector', 'pg_trgm'] loop
        v_needed := case v_ext when 'vector' then '0.8' else '1.6' end;

        if not exists (select from pg_catalog.pg_extension as e where e.extname = v_ext) then
            if not exists (
                select from pg_catalog.pg_available_extensions as a where a.name = v_ext
            ) then
                raise exception using
                    errcode = 'RC007',
                    message = format('extension %s is not installed on this server', v_ext),
                    hint    = format('The server''s administrator adds the operating system '
                                     'package (Debian: postgresql-%s-%s), then runs: '
                                     'create extension %s;',
                                     current_setting('server_version_num')::int / 10000,
                                     case v_ext when 'vector' then 'pgvector' else 'contrib' end,
                                     v_ext);
            end if;

            begin
                execute format('create extension %I schema %I', v_ext, v_schema);
            exception when insufficient_privilege then
                raise exception using
                    errcode = 'RC007',
                    message = format('%I may not create extension %s', current_user, v_ext),
                    hint    = format('A superuser (on a managed server: its admin role) runs in '
                                     'database %I: create extension %I;',
                                     current_database(), v_ext);
            end;
        end if;

        select e.extversion
          into v_have
          from pg_catalog.pg_extension as e
         where e.extname = v_ext;

        if string_to_array(regexp_replace(v_have, '[^0-9.].*$', ''), '.')::int[]
           < string_to_array(v_needed, '.')::int[] then
            raise exception using
                errcode = 'RC007',
                message = format('extension %s is %s, pgrecall needs %s', v_ext, v_have, v_needed),
                hint    = format('alter extension %I update;', v_ext);
        end if;
    end loop;

    perform set_config('search_path', 'pg_catalog, recall, pg_temp', true);
    -- Signatures are recorded as they read with the type halfvec on the path.
    perform set_config('recall.vector_prefix', quote_ident(n.nspname) || '.', true)
       from pg_catalog.pg_extension as e
       join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
      where e.extname = 'vector';
    perform set_config('client_min_messages', 'warning', true);
    perform set_config('check_function_bodies', 'off', true);
end;
$preflight$;
