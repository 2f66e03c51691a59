-- Say which processes have open transactions that have locked rows of a user; NULL: none is known.
-- It looks at the rows that writers lock: users, sessions, jobs and user_locks. Their xmax is the
-- transaction, or a multixact of several. PostgreSQL does not tell whose subtransaction it is, such
-- as that of an append. Then it names those who had begun before and have written in that table. A
-- transaction that has added its row is not found, since nobody sees that row.
create or replace function recall._open_writers(
    p_user_id uuid
)
returns text
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_next   constant bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    v_table  oid;
    v_xmax   xid;
    v_age    bigint;
    v_tables oid[] := '{}'::oid[];
    v_xids   xid[] := '{}'::xid[];
    v_found  xid[];
    v_pids   integer[];
    v_maybe  integer[];
begin
    if recall._is_distributed() then
        return null;
    end if;
    for v_table, v_xmax in
        select u.tableoid, u.xmax from recall.users as u where u.user_id = p_user_id
         union
        select s.tableoid, s.xmax from recall.sessions as s where s.user_id = p_user_id
         union
        select j.tableoid, j.xmax from recall.jobs as j where j.user_id = p_user_id
         union
        select l.tableoid, l.xmax from recall.user_locks as l where l.user_id = p_user_id
    loop
        v_found := array[v_xmax];
        begin
            v_found := v_found || array(
                select m.xid from pg_catalog.pg_get_multixact_members(v_xmax) as m);
        exception when others then  -- no multixact, or an old one
            null;
        end;
        foreach v_xmax in array v_found loop
            v_age := v_next - v_xmax::text::bigint & 4294967295;
            if v_age < 2147483648 and pg_xact_status((v_next - v_age)::text::xid8) = 'in progress'
            then
                v_tables := v_tables || v_table;
                v_xids   := v_xids || v_xmax;
            end if;
        end loop;
    end loop;

    with open as (
        select l.pid, l.transactionid as xid
          from pg_catalog.pg_locks as l
         where l.locktype = 'transactionid'
           and l.granted
           and l.pid <> pg_backend_pid()
    )
    select array(select distinct o.pid from open as o where o.xid = any (v_xids) order by 1),
           array(
               select distinct o.pid
                 from unnest(v_tables, v_xids) as f (relation, xid)
                 join pg_catalog.pg_locks as r
                   on r.relation = f.relation
                  and r.granted
                  and r.mode in ('RowShareLock', 'RowExclusiveLock')
                 join open as o on o.pid = r.pid and age(o.xid) > age(f.xid)
                where f.xid not in (select p.xid from open as p)
                order by 1)
      into v_pids, v_maybe;
    return case
        when v_pids <> '{}' then format('Process %s.', array_to_string(v_pids, ', '))
        when cardinality(v_maybe) = 1 then format('Process %s.', v_maybe[1])
        when v_maybe <> '{}' then format('It is one of the processes %s.',
                                         array_to_string(v_maybe, ', '))
    end;
end;
$function$;

comment on function recall._open_writers(uuid) is
    'The processes whose open transactions have locked rows of a user; NULL when none is known.';
