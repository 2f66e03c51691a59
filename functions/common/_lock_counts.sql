-- Count the tables and indexes of the schema, and those that a first call and the installer lock.
-- p_partitions counts them for so many hash partitions that the installer has yet to create, with
-- p_months months each. NULL counts those that exist.
create or replace function recall._lock_counts(
    p_partitions       integer default null,
    p_months           integer default null,
    out o_relations    integer,
    out o_first        integer,
    out o_installation integer
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    with tables as (
        select 1 + (
                   select count(*) from pg_catalog.pg_index as i where i.indrelid = c.oid
               ) as parts,
               coalesce(pg_partition_root(c.oid), c.oid) = any (
                   '{recall.users,recall.sessions,recall.session_summaries,recall.memory_store,'
                   'recall.memory_embedding,recall.message_search}'::regclass[]) as is_of_call,
               -- partitions to create: those by hash, and months
               case when p.partstrat = 'h' then coalesce(p_partitions, 0) else 0 end as hashed,
               case when p_partitions is null then 0
                    when c.relname = 'conversation_history' and p.partstrat = 'h'
                    then p_partitions * (p_months + 2)
                    when p.partstrat = 'r' then p_months + 2
                    else 0 end as monthly
          from pg_catalog.pg_class as c
          left join pg_catalog.pg_partitioned_table as p on p.partrelid = c.oid
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind in ('r', 'p')
    )
    select sum(t.parts * (1 + t.hashed + t.monthly)),
           -- compile_context with recalled turns, the largest call of a turn, locks these tables
           -- with all partitions and indexes, and 16 other relations. Months are pruned.
           16 + sum(t.parts * (1 + t.hashed)) filter (where t.is_of_call),
           -- a new table is locked with its TOAST table, the index of that, and two other objects
           case when p_partitions is not null then
               (select count(distinct (l.locktype, l.database, l.relation, l.classid, l.objid,
                                       l.objsubid))
                  from pg_catalog.pg_locks as l
                 where l.pid = pg_backend_pid())
               + sum((t.parts + 4) * (t.hashed + t.monthly)) end
      into o_relations, o_first, o_installation
      from tables as t;
end;
$function$;

comment on function recall._lock_counts(integer, integer) is
    'Count the tables and indexes of the schema, and those that a first call and the installer '
    'lock.';
