-- The roles, and who will own the schema.
-- recall_owner owns everything, so that no definer function ever runs as a superuser. Where roles
-- cannot be created (no CREATEROLE) the installing user owns the schema and health() warns.
-- Roles belong to the cluster: another database's installer may create the same ones at this
-- moment. Then `create role` waits for its commit and fails as a duplicate, which is fine.
do $roles$
declare
    v_role  text;
    v_owner name;
    v_schema_owner name;
begin
    foreach v_role in array array['recall_owner', 'recall_writer', 'recall_reader',
                                  'recall_worker', 'recall_admin'] loop
        begin
            if not exists (select from pg_catalog.pg_roles as r where r.rolname = v_role) then
                execute format('create role %I nologin', v_role);
            end if;
        exception
            when duplicate_object or unique_violation or insufficient_privilege then null;
        end;
    end loop;

    select pg_catalog.pg_get_userbyid(n.nspowner)
      into v_schema_owner
      from pg_catalog.pg_namespace as n
     where n.nspname = 'recall';

    if found then
        -- Ours has a table of settings with our first setting; an empty one may be made for us.
        if not exists (
            select
              from pg_catalog.pg_attribute as a
              join pg_catalog.pg_class as c on c.oid = a.attrelid
              join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
             where n.nspname = 'recall'
               and c.relname = 'settings'
               and a.attname = 'embedding_dimensions'
        ) and exists (
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
        v_owner := v_schema_owner;
    else
        v_owner := current_user;

        -- One who created the role holds ADMIN on it, not SET; give it to ourselves.
        if exists (select from pg_catalog.pg_roles as r where r.rolname = 'recall_owner') then
            if not pg_catalog.pg_has_role(current_user, 'recall_owner', 'SET') then
                begin
                    execute format('grant recall_owner to %I with set true, inherit true',
                                   current_user);
                -- internal_error: "tuple concurrently updated", the same grant elsewhere
                exception when insufficient_privilege or internal_error then null;
                end;
            end if;
            if pg_catalog.pg_has_role(current_user, 'recall_owner', 'SET') then
                v_owner := 'recall_owner';
            end if;
        end if;

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
                hint    = format('Its owner runs: grant usage on schema %I to %I;',
                                 v_role, v_owner);
        end if;
    end loop;

    execute format('set local role %I', v_owner);
end;
$roles$;

comment on schema recall is
    'pgrecall: long-term memory for LLM agents. The public functions are the interface.';
