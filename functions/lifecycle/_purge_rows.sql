-- Delete a batch of rows of a table that are older than a time, and return how many.
-- It goes partition by partition through the BRIN index of the column, which costs writers almost
-- nothing.
create or replace function recall._purge_rows(
    p_table  regclass,
    p_column name,
    p_before timestamptz,
    p_limit  integer
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
set enable_seqscan = off
set jit = off
as $function$
declare
    v_leaf  regclass;
    v_rows  integer;
    v_count integer := 0;
begin
    if recall._is_distributed() then
        -- Citus takes no limit here. The literal has the type of the column, as it compares no
        -- date with a time.
        execute format(
            'delete from %s as t where t.%I < %L::%s', p_table, p_column, p_before,
            (select format_type(a.atttypid, a.atttypmod)
               from pg_catalog.pg_attribute as a
              where a.attrelid = p_table
                and a.attname  = p_column));
        get diagnostics v_count = row_count;
        return v_count;
    end if;

    for v_leaf in
        select l.relid
          from recall._leaf_tables(p_table) as l
         order by l.relid
    loop
        exit when v_count >= p_limit;
        execute format(
            'delete from %1$s as t where t.ctid = any (array('
            'select d.ctid from %1$s as d where d.%2$I < $1 limit $2 for update skip locked))',
            v_leaf, p_column)
          using p_before, p_limit - v_count;
        get diagnostics v_rows = row_count;
        v_count := v_count + v_rows;
    end loop;
    return v_count;
end;
$function$;

comment on function recall._purge_rows(regclass, name, timestamptz, integer) is
    'Delete a batch of rows of a table or its partitions that are older than a time.';
