-- Report whether max_locks_per_transaction holds the locks of first calls and of an upgrade.
create or replace function recall._health_locks()
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
    v_locks  constant integer := current_setting('max_locks_per_transaction')::integer;
    v_counts record;
    v_needed integer;
begin
    v_counts := recall._lock_counts();
    v_needed := recall._needed_locks(v_counts.o_relations, v_counts.o_first);

    return query
    select 'locks', case when v_needed > v_locks then 'warn' else 'ok' end,
           format('%s tables and indexes; the first calls of %s connections lock up to %s each; '
                  'max_locks_per_transaction = %s suffices, %s is set',
                  v_counts.o_relations,
                  current_setting('max_connections')::integer
                  + current_setting('max_prepared_transactions')::integer,
                  v_counts.o_first, v_needed, v_locks),
           case when v_needed > v_locks
                then format('alter system set max_locks_per_transaction = %s; and restart.',
                            32 * ((v_needed + 31) / 32)) end;
end;
$function$;

comment on function recall._health_locks() is
    'Health of the lock table: whether it holds the locks of first calls and of an upgrade.';
