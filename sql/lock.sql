-- Lock all tables of an installed schema at once, so that no call and the installer deadlock.
-- A call locks tables in an order of its own. Each attempt gives up its locks before PostgreSQL
-- looks for a deadlock, and calls that wait go on. Calls during the upgrade wait for its commit.
-- Locks   every table of the schema, and its partitions, in ACCESS EXCLUSIVE mode.
-- Raises  RC007 another transaction keeps a table locked.
do $lock$
declare
    v_timeout constant text := current_setting('lock_timeout');
    v_until   constant timestamptz := clock_timestamp() + coalesce(
                  nullif(v_timeout::interval, '0'), '1 minute');
    v_tables  text;
    v_holder  text;
begin
    select string_agg(c.oid::regclass::text, ', '
                      order by array_position('{users,sessions,jobs}', c.relname::text),
                               c.relpersistence, c.relname)
      into v_tables
      from pg_catalog.pg_class as c
     where c.relnamespace = 'recall'::regnamespace
       and c.relkind in ('r', 'p')
       and not c.relispartition
       and pg_get_userbyid(c.relowner) = current_user;
    if v_tables is null then
        return;
    end if;

    perform set_config('lock_timeout', '300ms', true);
    loop
        begin
            execute 'lock table ' || v_tables || ' in access exclusive mode';
            exit;
        exception when lock_not_available or deadlock_detected then
            if clock_timestamp() > v_until then
                -- only roles with pg_read_all_stats see the state of another role's process
                select format('process %s of %s', a.pid, a.usename)
                       || coalesce(format(', %s since ', a.state)
                                   || date_trunc('second', clock_timestamp() - a.xact_start), '')
                  into v_holder
                  from pg_catalog.pg_locks as l
                  join pg_catalog.pg_class as c on c.oid = l.relation
                  join pg_catalog.pg_stat_activity as a on a.pid = l.pid
                 where l.database = (select d.oid from pg_catalog.pg_database as d
                                      where d.datname = current_database())
                   and c.relnamespace = 'recall'::regnamespace
                   and l.granted
                   and l.pid <> pg_backend_pid()
                 order by a.xact_start
                 limit 1;
                raise exception using
                    errcode = 'RC007',
                    message = format('tables of schema recall stay locked: %s',
                                     coalesce(v_holder, 'by a transaction that has ended')),
                    hint    = 'Upgrade when that transaction has ended, or set lock_timeout to '
                              'wait longer than a minute.';
            end if;
        end;
        perform pg_sleep(0.05 + random() / 10);
    end loop;
    perform set_config('lock_timeout', v_timeout, true);
end;
$lock$;
