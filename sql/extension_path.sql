-- Put the schemas of the extensions last on the search path, so that types can be named.
-- Others may create objects there, and PostgreSQL prefers an exact match in a later schema over a
-- polymorphic function of pg_catalog. So the files that follow define objects and run nothing of
-- them, until own_path.sql has checked what their expressions are bound to.
do $extension_path$
begin
    perform pg_catalog.set_config('search_path', (
        select concat_ws(', ', 'pg_catalog', 'recall',
                         string_agg(distinct quote_ident(n.nspname), ', '), 'pg_temp')
          from pg_catalog.pg_extension as e
          join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
         where e.extname in ('vector', 'pg_trgm')
           and n.nspname not in ('pg_catalog', 'recall')), true);
end;
$extension_path$;
