-- Name the processes that have locked a user's row of user_locks.
-- xmax of the row is the transaction, or a multixact of several. A process that has just added the
-- row is not found: nobody sees the row.
create or replace function recall._unlogged_writers(
    p_user_id uuid
)
returns text
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_xmax xid;
    v_xids xid[];
    v_pids integer[];
begin
    if recall._is_distributed() then
        return null;
    end if;
    select l.xmax into v_xmax from recall.user_locks as l where l.user_id = p_user_id;
    v_xids := array[v_xmax];
    begin
        v_xids := v_xids || array(
            select m.xid from pg_catalog.pg_get_multixact_members(v_xmax) as m);
    exception when others then  -- no multixact
        null;
    end;
    v_pids := array(
        select distinct k.pid
          from pg_catalog.pg_locks as k
         where k.locktype      = 'transactionid'
           and k.transactionid = any (v_xids)
           and k.granted
           and k.pid          <> pg_backend_pid());
    return case when v_pids <> '{}' then 'Process ' || array_to_string(v_pids, ', ') || '.' end;
end;
$function$;

comment on function recall._unlogged_writers(uuid) is
    'The processes that have locked a user''s row of user_locks.';
