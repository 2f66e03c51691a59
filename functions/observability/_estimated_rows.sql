-- Estimate the rows of a table by the value of a column, from the statistics of ANALYZE.
-- No row is read; values too rare for the statistics are missing.
create or replace function recall._estimated_rows(
    p_table  text,
    p_column text
)
returns table (
    item  text,
    rows_ double precision
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return query
    select v.item, sum(v.frequency * greatest(pg_stat_get_live_tuples(l.relid), 0))::float8
      from recall._leaf_tables(format('recall.%I', p_table)::regclass) as l
      join pg_catalog.pg_class as c on c.oid = l.relid
      join pg_catalog.pg_stats as s
        on s.schemaname = 'recall' and s.tablename = c.relname and s.attname = p_column
     cross join lateral unnest(s.most_common_vals::text::text[], s.most_common_freqs)
           as v (item, frequency)
     group by v.item;
end;
$function$;

comment on function recall._estimated_rows(text, text) is
    'Estimated rows of a table by the value of a column, from statistics.';
