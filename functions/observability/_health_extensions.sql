-- Report extensions: whether they are there and up to date, and the columns of their types, too.
-- `drop extension … cascade` drops columns, functions and primary keys. Creating the extension
-- again brings none of them back.
create or replace function recall._health_extensions()
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
    v_columns constant text := recall._lost_columns();
    v_missing text;
begin
    select string_agg('extension ' || x.name, ', ' order by x.name desc)
      into v_missing
      from unnest('{vector,pg_trgm}'::text[]) as x (name)
     where not exists (select from pg_catalog.pg_extension as e where e.extname = x.name);
    v_missing := nullif(concat_ws(', ', v_missing, 'columns ' || v_columns), '');

    return query
    select 'extensions',
           case when v_missing is not null then 'fail'
                when count(*) filter (where x.is_old) > 0 then 'warn'
                else 'ok' end,
           concat_ws('; ', 'missing: ' || v_missing,
                     string_agg(format('%s %s', x.extname, x.extversion), ', '
                                order by x.extname)),
           case when v_columns is not null
                then 'Keep the schema, and restore a backup from before. Without a backup see "A '
                     'dropped extension" in docs/operations/upgrade.md.'
                when v_missing is not null then 'Run the installer again.'
                else string_agg(format('alter extension %I update;', x.extname), ' '
                                order by x.extname) filter (where x.is_old) end
      from (
            select e.extname, e.extversion, e.extversion <> a.default_version as is_old
              from pg_catalog.pg_extension as e
              join pg_catalog.pg_available_extensions as a on a.name = e.extname
             where e.extname in ('vector', 'pg_trgm', 'pg_cron', 'pg_stat_statements')
           ) as x;
end;
$function$;

comment on function recall._health_extensions() is
    'Health of extensions: versions, and what was dropped together with an extension.';
