-- Send the functions to all nodes of a Citus cluster, and calls to the node of their user.
-- Returns how many functions there are.
create or replace function recall._distribute_functions()
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- Citus refuses their joins of a user's rows with copied tables on one shard alone.
    v_free  constant text[] := cast('{get_session,list_sessions,list_sealed_rows,import_user,'
                                    'export_user,export_user_pieces,verify_integrity}'
                                    as text[]);
    v_role  constant text := current_setting('role');
    v_owner constant regrole := (
        select n.nspowner from pg_catalog.pg_namespace as n where n.nspname = 'recall');
    v_call  record;
    v_count integer := 0;
begin
    -- From now on functions take their branches for Citus. The owner's connections to the other
    -- nodes are not the caller's, so the function is sent below.
    perform set_config('citus.enable_ddl_propagation', 'off', true);
    execute format('set local role %s', v_owner);
    execute 'create or replace function recall._is_distributed() returns boolean language sql'
            ' immutable parallel safe return true';
    perform set_config('role', v_role, true),
            set_config('citus.enable_ddl_propagation', 'on', true);

    -- Citus prints the types of a grant relative to this path, and runs the grant without it.
    perform set_config('search_path', 'pg_catalog, pg_temp', true);

    -- Variables of functions have composite types. Citus sends a type with a function that takes
    -- it.
    execute (
        select format('create function recall._types(%s) returns void language sql as ''''',
                      string_agg(format('%s[]', t.oid::regtype), ', '))
          from pg_catalog.pg_type as t
          join pg_catalog.pg_class as c on c.oid = t.typrelid
         where t.typnamespace = 'recall'::regnamespace
           and c.relkind = 'c');
    execute 'select create_distributed_function($1)'
      using to_regproc('recall._types')::oid::regprocedure;
    drop function recall._types;

    -- In the order of their creation, since those with SQL bodies depend on earlier ones.
    for v_call in
        select p.oid::regprocedure as name, p.proname,
               'p_user_id' = any (p.proargnames) and p.proname !~ '^_' as is_of_user,
               coalesce('plan_cache_mode=force_generic_plan' = any (p.proconfig), false)
                   as is_generic
          from pg_catalog.pg_proc as p
         where p.pronamespace = 'recall'::regnamespace
           and p.prokind = 'f'
           and p.proowner = v_owner
         order by p.oid
    loop
        -- Citus makes no generic plan of a statement on distributed tables.
        if v_call.is_generic then
            execute format('alter function %s reset plan_cache_mode', v_call.name);
        end if;
        if v_call.is_of_user then
            execute 'select create_distributed_function($1, ''p_user_id'', '
                    'colocate_with := ''recall.users'', force_delegation := $2)'
              using v_call.name, v_call.proname <> all (v_free);
        else
            execute 'select create_distributed_function($1)' using v_call.name;
        end if;
        -- A function that another node has just got is open to all there.
        execute format('revoke all on function %s from public', v_call.name);
        v_count := v_count + 1;
    end loop;
    return v_count;
end;
$function$;

comment on function recall._distribute_functions() is
    'Send the functions to all nodes of a Citus cluster, and calls to the node of their user.';
