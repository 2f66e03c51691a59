-- Record the transaction, so that preflight.sql can check that it runs in the same one. Take the
-- schemas of others off the search path before a body names a type or an operator.
-- In autocommit mode a transaction setting ends with its statement. Then `set local role` and the
-- search path of preflight.sql would be lost, too, before the first function is created.
do $transaction$
begin
    perform pg_catalog.set_config('recall.installation_began',
                                  pg_catalog.format('%s', pg_catalog.now()), true);
    -- caller.sql restores these.
    perform pg_catalog.set_config('recall.of_caller', pg_catalog.json_object_agg(
                s.name, pg_catalog.current_setting(s.name))::pg_catalog.text, true)
       from pg_catalog.unnest(array['check_function_bodies', 'client_min_messages',
                                    'quote_all_identifiers', 'role', 'search_path',
                                    'standard_conforming_strings']) as s (name);
    perform pg_catalog.set_config('recall.home', pg_catalog.current_schema()::pg_catalog.text,
                                  true),
            pg_catalog.set_config('standard_conforming_strings', 'on', true),
            pg_catalog.set_config('quote_all_identifiers', 'off', true),
            pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
end;
$transaction$;
