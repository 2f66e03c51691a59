-- Choose the storage of vectors and create the hash partitions, once, at installation.
-- Up to 3,700 dimensions a vector fits a page and is stored inline, which makes the exact scan five
-- times faster than with TOAST. With 0 partitions the tables are plain (sql/flat.sql).
create or replace function recall._create_hash_leaves(
    p_partitions integer,
    p_dimensions integer
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_storage constant jsonb := jsonb '{
        "sessions": "fillfactor = 80", "users": "fillfactor = 70", "memory_store": "fillfactor = 85"
        }';
    v_table  regclass;
    v_name   text;
begin
    if p_dimensions <= 3700 and not current_setting('recall.is_upgrade')::boolean then
        alter table recall.memory_embedding alter column embedding set storage plain;
        alter table recall.memory_embedding_ended alter column embedding set storage plain;
    end if;

    for v_table, v_name in
        select c.oid::regclass as parent, c.relname
          from pg_catalog.pg_class as c
          join pg_catalog.pg_partitioned_table as p on p.partrelid = c.oid
         where c.relnamespace = 'recall'::regnamespace
           and p.partstrat = 'h'
           and not exists (select from pg_catalog.pg_inherits as i where i.inhparent = c.oid)
         order by c.relname
    loop
        for v_remainder in 0 .. p_partitions - 1 loop
            execute format(
                'create table recall.%I partition of %s '
                'for values with (modulus %s, remainder %s)%s',
                format('%s_p%s', v_name, v_remainder), v_table, p_partitions,
                v_remainder,
                case v_name when 'conversation_history' then ' partition by range (created_at)'
                            else coalesce(' with (' || (v_storage ->> v_name) || ')', '') end);
            execute format('alter table recall.%I enable row level security',
                           format('%s_p%s', v_name, v_remainder));
        end loop;
    end loop;

    for v_table, v_name in
        select c.oid::regclass, c.relname
          from pg_catalog.pg_class as c
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind = 'r'
           and c.reloptions is null
           and v_storage ? c.relname::text
    loop
        execute format('alter table %s set (%s)', v_table, v_storage ->> v_name);
    end loop;
end;
$function$;

comment on function recall._create_hash_leaves(integer, integer) is
    'At installation: choose the storage of vectors and create the partitions of the '
    'hash-partitioned tables.';
