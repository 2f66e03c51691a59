-- The second wall: who reads tables directly (recall_reader) sees the user in recall.user_id, and
-- nobody when it is unset; whoever else was granted a table sees nothing. Enabled, not forced: the
-- functions run as the owner, whose plans keep every index and whose pg_dump is complete. Leaves
-- have row-level security without a policy.
do $policies$
declare
    v_table record;
begin
    for v_table in
        select c.oid::regclass as name, c.relname, a.attname is not null as has_user
          from pg_catalog.pg_class as c
          left join pg_catalog.pg_attribute as a
            on a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind in ('r', 'p')
           and not c.relispartition
    loop
        execute format('alter table %s enable row level security', v_table.name);
        execute format('drop policy if exists %I on %s', v_table.relname || '_own_rows',
                       v_table.name);
        if v_table.has_user and to_regrole('recall_reader') is not null then
            execute format(
                'create policy %I on %s for select to recall_reader using '
                '(user_id = nullif(current_setting(''recall.user_id'', true), '''')::uuid)',
                v_table.relname || '_own_rows', v_table.name);
            execute format('comment on policy %I on %s is %L', v_table.relname || '_own_rows',
                           v_table.name, 'Rows of the user in recall.user_id; none when unset.');
        end if;
    end loop;
end;
$policies$;
