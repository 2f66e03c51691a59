-- Leave out the hash partitions where recall.hash_partitions is 0.
-- A distributed engine cuts the tables by user itself. The table files made partitioned tables
-- without partitions: they become plain tables, and history is partitioned by month. Later files
-- create indexes and functions, so nothing depends on these tables yet.
do $flat$
declare
    v_count constant text := coalesce(
        (select s.hash_partitions::text from recall.settings as s),
        nullif(current_setting('recall.hash_partitions', true), ''));
    v_table record;
    v_index record;
begin
    if v_count is null or v_count !~ '^0{1,6}$' then
        return;
    end if;

    for v_table in
        select c.oid::regclass as name, c.relname, obj_description(c.oid, 'pg_class') as comment
          from pg_catalog.pg_class as c
          join pg_catalog.pg_partitioned_table as p on p.partrelid = c.oid
         where c.relnamespace = 'recall'::regnamespace
           and p.partstrat = 'h'
    loop
        execute format('create table recall.%I (like %s including all)%s',
                       v_table.relname || '_flat', v_table.name,
                       case v_table.relname
                           when 'conversation_history' then ' partition by range (created_at)'
                           else ''
                       end);
        execute format('drop table %s', v_table.name);
        execute format('alter table recall.%I rename to %I', v_table.relname || '_flat',
                       v_table.relname);
        for v_index in
            select i.indexrelid::regclass as name, c.relname
              from pg_catalog.pg_index as i
              join pg_catalog.pg_class as c on c.oid = i.indexrelid
             where i.indrelid = format('recall.%I', v_table.relname)::regclass
        loop
            execute format('alter index %s rename to %I', v_index.name,
                           replace(v_index.relname, v_table.relname || '_flat', v_table.relname));
        end loop;
        execute format('comment on table recall.%I is %L', v_table.relname, v_table.comment);
    end loop;
end;
$flat$;
