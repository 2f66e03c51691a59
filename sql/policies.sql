-- Create the policies of row-level security.
-- PREFIX_reader reads the rows of the user in recall.user_id, and none when it is unset; other
-- roles read none. Row-level security is enabled, not forced: functions run as the owner, whose
-- plans use every index and whose pg_dump is complete. Partitions have no policy.
do $policies$
declare
    v_table  record;
    v_reader constant text := (select s.role_prefix || '_reader' from recall.settings as s);
begin
    for v_table in
        select c.oid::regclass as name, c.relname, a.attname is not null as has_user
          from pg_catalog.pg_class as c
          left join pg_catalog.pg_attribute as a
            on a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind in ('r', 'p')
           and not c.relispartition
           and pg_get_userbyid(c.relowner) = current_user
    loop
        execute format('alter table %s enable row level security', v_table.name);
        execute format('drop policy if exists %I on %s', v_table.relname || '_own_rows',
                       v_table.name);
        if v_table.has_user and to_regrole(quote_ident(v_reader)) is not null then
            execute format(
                'create policy %I on %s for select to %I using '
                '(user_id = nullif(current_setting(''recall.user_id'', true), '''')::uuid)',
                v_table.relname || '_own_rows', v_table.name, v_reader);
            execute format('comment on policy %I on %s is %L', v_table.relname || '_own_rows',
                           v_table.name, 'Rows of the user in recall.user_id; none when unset.');
        end if;
    end loop;
end;
$policies$;
