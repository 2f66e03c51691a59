-- Report slow_statements if pg_stat_statements is installed.
-- It uses EXECUTE, because most installations lack the extension. Without pg_read_all_stats the
-- owner sees only its own statement texts. Maintenance and statements with fewer than five calls
-- are ignored. The row shows only the first pgrecall name of a text: the rest may contain values
-- (COPY, DO, comments) that callers of health() must not see.
create or replace function recall._health_statements()
returns table (
    name   text,
    status text,
    detail text,
    hint   text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_schema name;
    v_slow   text;
    v_hidden bigint;
begin
    select n.nspname
      into v_schema
      from pg_catalog.pg_extension as e
      join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
     where e.extname = 'pg_stat_statements';
    if not found then
        return;
    end if;

    begin
        execute format($sql$
            select string_agg(format('%%s ms (%%s calls): %%s', round(s.mean_exec_time), s.calls,
                                     substring(s.query from '\yrecall\.\w+')),
                              '; ' order by s.mean_exec_time desc)
                       filter (where s.query ~ '\yrecall\.' and s.place <= 3),
                   count(*) filter (where s.query = '<insufficient privilege>')
              from (
                    select p.query, p.calls, p.mean_exec_time::numeric,
                           row_number() over (order by (p.query ~ '\yrecall\.') desc,
                                                       p.mean_exec_time desc) as place
                      from %I.pg_stat_statements as p
                     where p.dbid = (select d.oid from pg_catalog.pg_database as d
                                      where d.datname = current_database())
                       and p.calls >= 5
                       and p.mean_exec_time > 250
                       and p.query !~ '\yrecall\.(maintain|run_\w*maintenance)\y'
                   ) as s
        $sql$, v_schema) into v_slow, v_hidden;
    exception when object_not_in_prerequisite_state or insufficient_privilege then
        return query
        select 'slow_statements', 'ok', format('pg_stat_statements does not answer: %s', sqlerrm),
               'It belongs into shared_preload_libraries.';
        return;
    end;

    return query
    select 'slow_statements', case when v_slow is not null then 'warn' else 'ok' end,
           concat_ws('; ', coalesce(v_slow, 'no statement takes more than 250 ms on average'),
                     case when v_hidden > 0
                          then format('%s slow statements of others are not shown', v_hidden) end),
           case when v_slow is not null
                then 'See pg_stat_statements; explain (analyze, buffers) one of them; vacuum '
                     '(analyze) its tables.'
                when v_hidden > 0
                then format('grant pg_read_all_stats to %I;', current_user) end;
end;
$function$;

comment on function recall._health_statements() is
    'Health of statements, if pg_stat_statements is installed: those that are slow on average.';
