-- What must be true before anything is created, each with who can mend it; then the lock under
-- which one installer at a time works on this database, and the search path that every function
-- takes over by `set search_path from current`.
do $preflight$
declare
    v_lock   constant bigint := pg_catalog.hashtextextended('pgrecall.install', 0);
    v_ext    text;
    v_needed text;
    v_have   text;
    v_path   text;
    v_schema name            := coalesce(pg_catalog.current_schema(), 'public');
begin
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

    -- From here on nothing that somebody put into another schema is called by the installer.
    perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

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

    -- Installers in other databases of this cluster do not wait here; they meet at the roles.
    perform pg_advisory_xact_lock(v_lock);

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

    select string_agg(quote_ident(n.nspname), ', ' order by n.nspname)
      into v_path
      from (
            select distinct x.extnamespace
              from pg_catalog.pg_extension as x
             where x.extname in ('vector', 'pg_trgm')
           ) as e
      join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
     where n.nspname not in ('pg_catalog', 'recall');

    perform set_config('search_path', concat_ws(', ', 'pg_catalog', 'recall', v_path, 'pg_temp'),
                       true);
    perform set_config('client_min_messages', 'warning', true);
    perform set_config('check_function_bodies', 'off', true);
end;
$preflight$;
