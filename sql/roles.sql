-- Find or create the roles, create the schema, and become its owner.
-- PREFIX_owner owns everything, so that no SECURITY DEFINER function runs as a superuser. Without
-- CREATEROLE the installing user owns the schema, and health() warns. The setting recall.owner
-- names another owner, and hands an installed schema over to it. settings.owner records the choice.
-- Another database's installer may create the same roles now; `create role` waits for its commit.
do $roles$
declare
    v_user         constant name := current_user;
    v_prefix       text := nullif(current_setting('recall.role_prefix', true), '');
    v_share        text := nullif(current_setting('recall.share_roles', true), '');
    v_old_prefix   text;
    v_old_share    text;
    v_wanted       name := nullif(current_setting('recall.owner', true), '');
    v_role         text;
    v_object       text;
    v_new_owner    name;
    v_owner        name;
    v_schema_owner name;
begin
    if v_prefix !~ '^[a-z_][a-z0-9_]{0,55}$' or v_prefix ~ '^pg_' then
        raise exception using
            errcode = 'RC007',
            message = format('recall.role_prefix is %L', v_prefix),
            hint    = '1 to 56 lower-case letters, digits and underscores, not pg_ and no digit '
                      'at the beginning.';
    end if;
    if lower(v_share) not in ('on', 'off', 'true', 'false') then
        raise exception using
            errcode = 'RC007',
            message = format('recall.share_roles is %L', v_share),
            hint    = 'on or off.';
    end if;

    select pg_catalog.pg_get_userbyid(n.nspowner)
      into v_schema_owner
      from pg_catalog.pg_namespace as n
     where n.nspname = 'recall';

    if found then
        -- A pgrecall schema has a settings table with these columns. Reading a view, or a column of
        -- a type with a cast, would run its maker's code. An empty schema may have been prepared
        -- for this installation.
        if (
            select count(*)
              from pg_catalog.pg_attribute as a
              join pg_catalog.pg_class as c on c.oid = a.attrelid
              join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
             where n.nspname = 'recall'
               and c.relname = 'settings'
               and c.relkind = 'r'
               and (a.attname, a.atttypid) in (
                       ('embedding_dimensions', 'integer'::regtype),
                       ('role_prefix', 'text'::regtype),
                       ('share_roles', 'boolean'::regtype))
        ) < 3 and exists (
            select
              from pg_catalog.pg_depend as d
              join pg_catalog.pg_namespace as n on n.oid = d.refobjid
             where d.refclassid = 'pg_catalog.pg_namespace'::regclass
               and n.nspname    = 'recall'
        ) then
            raise exception using
                errcode = 'RC007',
                message = 'a schema named recall exists here and is not pgrecall''s',
                hint    = 'Rename it, or install pgrecall into a database of its own.';
        end if;

        if not pg_catalog.pg_has_role(current_user, v_schema_owner, 'SET') then
            raise exception using
                errcode = 'RC007',
                message = format('schema recall belongs to %I, and %I may not act as it',
                                 v_schema_owner, current_user),
                hint    = format('Upgrade as %I, or let its administrator run: grant %I to %I;',
                                 v_schema_owner, v_schema_owner, current_user);
        end if;

        -- A trigger or policy that the owner has put there runs within this transaction, and may
        -- reset the role. Naming an owner says that the installer trusts the schema.
        if v_wanted is null and v_schema_owner <> v_user and exists (
            select
              from pg_catalog.pg_roles as r
             where r.rolname = v_schema_owner
               and r.rolcanlogin
               and not r.rolsuper
        ) then
            raise exception using
                errcode = 'RC007',
                message = format('schema recall belongs to %1$I, and what %1$I has put into it '
                                 'would run with the rights of %2$I', v_schema_owner, v_user),
                hint    = format('Upgrade as %1$I. Or trust what is in the schema: '
                                 'set recall.owner = %1$L; (pgrecall install --owner %1$s)',
                                 v_schema_owner);
        end if;

        if to_regclass('recall.settings') is not null then
            execute format('set local role %I', v_schema_owner);
            execute 'select s.role_prefix, s.share_roles from recall.settings as s'
               into v_old_prefix, v_old_share;
            execute format('set local role %I', v_user);
        end if;
    end if;

    v_prefix := coalesce(v_prefix, v_old_prefix, 'recall');
    perform set_config('recall.role_prefix', v_prefix, true),
            set_config('recall.share_roles', coalesce(v_share, v_old_share, 'off'), true);

    foreach v_role in array array['_owner', '_writer', '_reader', '_worker', '_admin'] loop
        begin
            if not exists (
                select from pg_catalog.pg_roles as r where r.rolname = v_prefix || v_role
            ) then
                execute format('create role %I nologin', v_prefix || v_role);
            end if;
        exception
            when duplicate_object or unique_violation or insufficient_privilege then null;
        end;
    end loop;

    if v_wanted is not null and to_regrole(quote_ident(v_wanted)) is null then
        raise exception using
            errcode = 'RC007',
            message = format('recall.owner is %L, and there is no such role', v_wanted),
            hint    = format('An administrator runs: create role %I;', v_wanted);
    end if;

    -- The creator of a role has ADMIN on it, but not SET; grant it to ourselves.
    v_new_owner := coalesce(v_wanted, v_prefix || '_owner');
    if not exists (select from pg_catalog.pg_roles as r where r.rolname = v_new_owner) then
        v_new_owner := v_user;
    elsif not pg_catalog.pg_has_role(v_user, v_new_owner, 'SET') then
        begin
            execute format('grant %I to %I with set true, inherit true', v_new_owner, v_user);
        -- internal_error "tuple concurrently updated": another session runs the same grant.
        exception when insufficient_privilege or internal_error then null;
        end;
        if not pg_catalog.pg_has_role(v_user, v_new_owner, 'SET') then
            if v_wanted is not null then
                raise exception using
                    errcode = 'RC007',
                    message = format('%I may not act as %I, which recall.owner names',
                                     v_user, v_wanted),
                    hint    = format('An administrator runs: grant %I to %I;', v_wanted, v_user);
            end if;
            v_new_owner := v_user;
        end if;
    end if;

    if v_schema_owner is null then
        v_owner := v_new_owner;
        begin
            execute format('create schema recall authorization %I', v_owner);
        exception when insufficient_privilege then
            raise exception using
                errcode = 'RC007',
                message = format('%I may not create a schema in database %I',
                                 current_user, current_database()),
                hint    = format('The database''s owner runs: grant create on database %I to %I;',
                                 current_database(), current_user);
        end;
    elsif (v_schema_owner <> v_wanted
           or v_schema_owner = v_old_prefix || '_owner' and v_prefix <> v_old_prefix)
          and not pg_catalog.has_database_privilege(current_database(), 'CREATE') then
        raise exception using
            errcode = 'RC007',
            message = format('%I may not hand schema recall over: that needs CREATE on database %I',
                             current_user, current_database()),
            hint    = format('The database''s owner runs: grant create on database %I to %I;',
                             current_database(), current_user);
    elsif v_schema_owner = v_old_prefix || '_owner' and v_prefix <> v_old_prefix then
        -- A new prefix separates this database from those that keep the old roles.
        v_owner := v_new_owner;
        execute format('alter schema recall owner to %I', v_owner);
        execute format('reassign owned by %I to %I', v_schema_owner, v_owner);
    elsif v_schema_owner <> v_wanted then
        -- REASSIGN OWNED would take all that the former owner has in this database.
        v_owner := v_wanted;
        execute format('alter schema recall owner to %I', v_owner);
        for v_object in
            select format('routine %s', p.oid::regprocedure)
              from pg_catalog.pg_proc as p
             where p.pronamespace = 'recall'::regnamespace
               and pg_get_userbyid(p.proowner) = v_schema_owner
            union all
            select format('%s %s', case c.relkind when 'v' then 'view' else 'table' end,
                          c.oid::regclass)
              from pg_catalog.pg_class as c
             where c.relnamespace = 'recall'::regnamespace
               and c.relkind in ('r', 'p', 'v')
               and pg_get_userbyid(c.relowner) = v_schema_owner
            union all
            select format('type %s', t.oid::regtype)
              from pg_catalog.pg_type as t
              left join pg_catalog.pg_class as c on c.oid = t.typrelid
             where t.typnamespace = 'recall'::regnamespace
               and (t.typtype in ('d', 'e') or c.relkind = 'c')
               and pg_get_userbyid(t.typowner) = v_schema_owner
        loop
            execute format('alter %s owner to %I', v_object, v_owner);
        end loop;
    else
        v_owner := v_schema_owner;
    end if;

    -- The owner must reach the extensions' types wherever they live.
    for v_role in
        select distinct n.nspname
          from pg_catalog.pg_extension as e
          join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
         where e.extname in ('vector', 'pg_trgm')
           and not pg_catalog.has_schema_privilege(v_owner, n.oid, 'USAGE')
    loop
        begin
            execute format('grant usage on schema %I to %I', v_role, v_owner);
        exception when insufficient_privilege then null;
        end;
        if not pg_catalog.has_schema_privilege(v_owner, v_role, 'USAGE') then
            raise exception using
                errcode = 'RC007',
                message = format('%I may not use schema %I, where an extension lives',
                                 v_owner, v_role),
                -- A role that this transaction has created does not exist for anybody else.
                hint    = format('Its owner runs: grant usage on schema %I to %I%s;',
                                 v_role, v_user,
                                 case when v_user <> v_owner then ' with grant option' end);
        end if;
    end loop;

    execute format('set local role %I', v_owner);
    if v_prefix <> v_old_prefix then
        for v_role in
            select r.rolname
              from pg_catalog.pg_roles as r
             where r.rolname in (v_old_prefix || '_writer', v_old_prefix || '_reader',
                                 v_old_prefix || '_worker', v_old_prefix || '_admin')
        loop
            execute format('revoke all on schema recall from %I', v_role);
            for v_object in
                select format('table %s', c.oid::regclass)
                  from pg_catalog.pg_class as c
                 where c.relnamespace = 'recall'::regnamespace
                   and c.relkind in ('r', 'p', 'v')
                   and pg_get_userbyid(c.relowner) = v_owner
                union all
                select format('routine %s', p.oid::regprocedure)
                  from pg_catalog.pg_proc as p
                 where p.pronamespace = 'recall'::regnamespace
                   and pg_get_userbyid(p.proowner) = v_owner
            loop
                execute format('revoke all on %s from %I', v_object, v_role);
            end loop;
        end loop;
    end if;
end;
$roles$;

comment on schema recall is
    'pgrecall: long-term memory for LLM agents. The public functions are the interface.';
