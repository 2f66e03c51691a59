-- List the tables in the schema that are no longer part of it, such as detached months.
-- Only those with users' rows; EXISTS would become a join that reads all columns. On Citus a shard
-- of a table belongs to that table.
create or replace function recall._detached_tables()
returns setof regclass
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_table    regclass;
    v_is_shard boolean := false;
begin
    for v_table in
        select c.oid::regclass
          from pg_catalog.pg_class as c
         where c.relnamespace = 'recall'::regnamespace
           and c.relkind = 'r'
           and not c.relispartition
           and c.oid <> all (array(select t.name from recall._user_tables() as t))
           and (
                   select not a.attisdropped
                     from pg_catalog.pg_attribute as a
                    where a.attrelid = c.oid
                      and a.attname  = 'user_id')
         order by c.oid
    loop
        if recall._is_distributed() then
            execute 'select pg_catalog.relation_is_a_known_shard($1)'
               into v_is_shard using v_table;
        end if;
        if not v_is_shard then
            return next v_table;
        end if;
    end loop;
end;
$function$;

comment on function recall._detached_tables() is
    'Tables with users'' rows that are no longer part of the schema, such as detached months.';
